// Measures the page in Chromium: from the address to a page that can be asked, and from the question to the answer.
//
//     node tools/bench/page.mjs http://127.0.0.1:8080 "How long are backups kept?"
//
// Each visit has an empty cache. Needs the packages of web/ (npm ci).
import { chromium } from "../../web/node_modules/@playwright/test/index.mjs";

const [, , server, question] = process.argv;
const VISITS = 15;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const opened = [], answered = [];
for (let visit = 0; visit < VISITS; visit++) {
  const page = await browser.newPage();
  const started = performance.now();
  await page.goto(server, { waitUntil: "commit" });
  await page.getByLabel("Question").waitFor();
  opened.push(performance.now() - started);
  await page.getByLabel("Question").fill(question);
  const asked = performance.now();
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.locator(".verdict, .abstention").first().waitFor();
  answered.push(performance.now() - asked);
  await page.close();
}
await browser.close();
const median = (times) => times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)].toFixed(0);
console.log(`page ready after ${median(opened)} ms, answer shown after ${median(answered)} ms (medians of ${VISITS} visits)`);
