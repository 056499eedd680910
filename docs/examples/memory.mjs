// A memory in JavaScript: words that are rare in a scope weigh more.
// `node memory.mjs` speaks JSON lines, `node memory.mjs 8000` HTTP on that port.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const scopes = new Map();
const words = (text) => new Set(text.toLowerCase().match(/[a-z0-9]+/g) ?? []);
function index({ scope, observations }) {
  const documents = observations.map((o) => ({ id: o.id, time: Date.parse(o.timestamp), words: words(o.text) }));
  const counts = new Map();
  for (const { words } of documents) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  scopes.set(scope, { documents, counts });
  return {};
}

function search({ scope, query, k, asked_at }) {
  const { documents, counts } = scopes.get(scope);
  const known = [...words(query)].filter((word) => counts.has(word));
  const weigh = (sum, word) => sum + Math.log(1 + documents.length / counts.get(word));
  const hits = documents
    .filter(({ time }) => asked_at === null || time <= Date.parse(asked_at))
    .map(({ id, words }) => ({ id, score: known.filter((word) => words.has(word)).reduce(weigh, 0) }))
    .filter(({ score }) => score > 0);
  return { hits: hits.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)).slice(0, k) };
}

const operations = { index, search };
if (process.argv[2]) {
  createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    response.end(JSON.stringify(operations[request.url.slice(1)](JSON.parse(body))));
  }).listen(process.argv[2], "127.0.0.1");
} else {
  for await (const line of createInterface({ input: process.stdin })) {
    const { n, op, ...message } = JSON.parse(line);
    if (op === "close") break;
    console.log(JSON.stringify({ n, ...operations[op](message) }));
  }
}
