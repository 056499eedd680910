// Lints the explorer's script as the page has it: its parts share one scope, so they are joined first and told apart again.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import js from "@eslint/js";
import { ESLint } from "eslint";

const folder = process.argv[2];
const parts = [];
let text = "";
for (const name of readdirSync(folder).filter((one) => one.endsWith(".js")).sort()) {
  parts.push({ name, first: text.split("\n").length });
  text += `${readFileSync(join(folder, name), "utf-8")}\n`;
}

const browser = ["CSS", "ResizeObserver", "addEventListener", "console", "document", "getComputedStyle", "Node", "history", "innerWidth", "location",
  "matchMedia", "performance", "requestAnimationFrame", "scrollTo", "setTimeout", "clearTimeout", "window", "navigator", "URLSearchParams",
  "Blob", "Image", "URL", "XMLSerializer", "localStorage"];
const eslint = new ESLint({
  overrideConfigFile: true,
  overrideConfig: [
    js.configs.recommended,
    {
      languageOptions: { sourceType: "script", globals: Object.fromEntries(browser.map((name) => [name, "readonly"])) },
      rules: {
        "no-control-regex": "off", // control characters are what one of them looks for
        eqeqeq: "error",
        "no-unused-vars": ["error", { ignoreRestSiblings: true }],
        "no-eval": "error",
        "no-implied-eval": "error",
        "no-new-func": "error",
        "no-var": "error",
        "prefer-const": "error",
        strict: ["error", "never"],
      },
    },
  ],
});

const [result] = await eslint.lintText(text);
for (const found of result.messages) {
  const part = parts.findLast((one) => one.first <= found.line);
  console.error(`${join(folder, part.name)}:${found.line - part.first + 1}:${found.column} ${found.message} (${found.ruleId})`);
}
process.exit(result.messages.length ? 1 : 0);
