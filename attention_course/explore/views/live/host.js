// Where the model runs: in a worker of the site, so that the page stays responsive; elsewhere on the page, in slices.

/** @import { Changes, ModelSizes, Packed16, Sight } from "../../types" */
import { makeEngine } from "./engine.js";

/** @typedef {{ symbols: number[], changes: Changes }} Question */
/** @typedef {{ run: (question: Question) => Promise<Sight>, end: () => void }} Host */

// This file's address where it is a script of the site; Jupyter's modules have none.
const SCRIPT = /** @type {HTMLScriptElement | null | undefined} */ (globalThis.document?.currentScript)?.src;

const pause = () =>
  new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  });

/** @type {(sizes: ModelSizes, packed: Packed16) => Host} */
const onPage = (sizes, packed) => {
  const engine = makeEngine(sizes, packed);
  const run = async (/** @type {Question} */ { symbols, changes }) => {
    const steps = engine(symbols, changes);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await pause();
    }
  };
  return { run, end: () => {} };
};

/** @type {(script: string, sizes: ModelSizes, packed: Packed16) => Host} */
const inWorker = (script, sizes, packed) => {
  const worker = new Worker(script);
  worker.postMessage({ sizes, packed });
  const run = (/** @type {Question} */ question) =>
    /** @type {Promise<Sight>} */ (
      new Promise((done, fail) => {
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = fail;
        worker.postMessage(question);
      })
    );
  return { run, end: () => worker.terminate() };
};

// The worker's side: first the model, then questions.
export const serve = () => {
  /** @type {ReturnType<typeof makeEngine>} */
  let engine;
  globalThis.onmessage = ({ data }) => {
    if (data.packed) {
      engine = makeEngine(data.sizes, data.packed);
      return;
    }
    const steps = engine(data.symbols, data.changes);
    let step = steps.next();
    while (!step.done) step = steps.next();
    postMessage(step.value);
  };
};

// Runs the model, one question at a time. Of those that wait only the newest stays; the others get null.
/** @type {(sizes: ModelSizes, packed: Packed16) => { ask: (question: Question) => Promise<Sight | null>, end: () => void }} */
export const makeHost = (sizes, packed) => {
  let host = SCRIPT && location.protocol !== "file:" ? inWorker(SCRIPT, sizes, packed) : onPage(sizes, packed);
  /** @type {Promise<unknown>} */
  let running = Promise.resolve();
  let newest = 0;
  const ask = async (/** @type {Question} */ question) => {
    const mine = ++newest;
    await running;
    if (mine !== newest) return null;
    // Where a policy forbids workers, the page takes over.
    const answer = host.run(question).catch(() => (host = onPage(sizes, packed)).run(question));
    running = answer;
    return answer;
  };
  return { ask, end: () => host.end() };
};
