// Runs a live model under Node: takes the module's address, and JSON { make, sizes, packed, cases } on the standard input.
// A case is a list of arguments, each of which may start from the run before it; its last run comes back.
import { readFileSync } from "node:fs";

const module = await import(process.argv[2]);
const { make, sizes, packed, cases } = JSON.parse(readFileSync(0, "utf-8"));
const model = module[make](sizes, module.unpackHalf(packed));
const finish = (steps) => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};
const runs = cases.map((steps) => steps.reduce((past, given) => finish(model(...given, past)), null));
const plain = (_, value) => (value instanceof Float32Array ? Array.from(value) : value);
process.stdout.write(JSON.stringify(runs, plain));
