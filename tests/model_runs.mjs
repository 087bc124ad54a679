// Runs the live model under Node: takes the module's address, and JSON { sizes, packed, cases } on the standard input.
// A case is a list of [symbols, changes], each of which may start from the run before it; its last run comes back.
import { readFileSync } from "node:fs";

const { makeModel, unpackHalf } = await import(process.argv[2]);
const { sizes, packed, cases } = JSON.parse(readFileSync(0, "utf-8"));
const model = makeModel(sizes, unpackHalf(packed));
const finish = (steps) => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};
const runs = cases.map((texts) => texts.reduce((past, [symbols, changes]) => finish(model(symbols, changes, past)), null));
const plain = (_, value) => (value instanceof Float32Array ? Array.from(value) : value);
process.stdout.write(JSON.stringify(runs, plain));
