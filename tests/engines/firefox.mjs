// A Firefox that does what it is told, over WebDriver BiDi: a line of JSON in, a line of JSON out.
// node firefox.mjs PUPPETEER_FOLDER FIREFOX

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, executablePath] = process.argv.slice(2);
const { launch } = await import(pathToFileURL(`${folder}/node_modules/puppeteer-core/lib/puppeteer/puppeteer-core.js`));
const browser = await launch({ browser: "firefox", executablePath, headless: true, defaultViewport: { width: 1280, height: 900 } });
const page = await browser.newPage();

const element = async (selector, index) => {
  const found = (await page.$$(selector))[index];
  await found.evaluate((it) => it.scrollIntoView({ block: "center", behavior: "instant" }));
  return found;
};

const actions = {
  open: ({ address }) => page.goto(address, { waitUntil: "load" }).then(() => null),
  evaluate: ({ script }) => page.evaluate(script),
  press: async ({ selector, index, key }) => (await element(selector, index)).press(key),
  click: async ({ selector, index }) => (await element(selector, index)).click(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { action, ...told } = JSON.parse(line);
  const reply = await actions[action](told).then((value) => ({ value: value ?? null }), (error) => ({ error: String(error) }));
  console.log(JSON.stringify(reply));
}
await browser.close();
