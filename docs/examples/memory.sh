#!/bin/sh
# A memory in shell that speaks JSON lines: a text scores a point for each word of the query. It needs jq.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

while IFS= read -r line; do
  printf '%s\n' "$line" > "$folder/message"
  scope=$(jq -r '.scope // empty' "$folder/message")
  case $(jq -r .op "$folder/message") in
    index)
      jq -c '.observations[]' "$folder/message" > "$folder/$scope"
      jq -c '{n}' "$folder/message"
      ;;
    search)
      jq -c --slurpfile observations "$folder/$scope" '
        def words: [ascii_downcase | scan("[a-z0-9]+")] | unique;
        . as $asked | (.query | words) as $wanted
        | [$observations[]
           | select($asked.asked_at == null or .timestamp <= $asked.asked_at)
           | {id, score: ($wanted - ($wanted - (.text | words)) | length)}
           | select(.score > 0)]
        | {n: $asked.n, hits: (sort_by(-.score, .id) | .[:$asked.k])}' "$folder/message"
      ;;
    close) exit ;;
  esac
done
