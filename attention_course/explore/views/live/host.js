// Where the model runs: in a worker of the site, so that the page stays responsive; elsewhere on the page, in slices.

/** @import { MakeEngine, Packed16 } from "../../types" */
/** @template Question, Answer @typedef {{ run: (question: Question) => Promise<Answer>, end: () => void }} Host */

// This file's address where it is a script of the site; Jupyter's modules have none.
export const SCRIPT = /** @type {HTMLScriptElement | null | undefined} */ (globalThis.document?.currentScript)?.src;

const pause = () =>
  new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  });

/**
 * @template Sizes, Question, Answer
 * @param {MakeEngine<Sizes, Question, Answer>} makeEngine
 * @param {Sizes} sizes
 * @param {Packed16} packed
 * @returns {Host<Question, Answer>}
 */
const onPage = (makeEngine, sizes, packed) => {
  /** @type {ReturnType<typeof makeEngine> | undefined} */
  let engine; // made by a question, which fails where the weights are damaged
  const run = async (/** @type {Question} */ question) => {
    engine ??= makeEngine(sizes, packed);
    const steps = engine(question);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await pause();
    }
  };
  return { run, end: () => {} };
};

/**
 * @template Sizes, Question, Answer
 * @param {string} script
 * @param {Sizes} sizes
 * @param {Packed16} packed
 * @returns {Host<Question, Answer>}
 */
const inWorker = (script, sizes, packed) => {
  /** @type {Worker | undefined} */
  let worker;
  const begin = () => {
    worker = new Worker(script);
    worker.postMessage({ sizes, packed });
    return worker;
  };
  const run = (/** @type {Question} */ question) =>
    /** @type {Promise<Answer>} */ (
      new Promise((done, fail) => {
        worker ??= begin();
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = fail;
        worker.postMessage(question);
      })
    );
  return { run, end: () => worker?.terminate() };
};

// The worker's side: first the model, then questions.
/** @type {(makeEngine: MakeEngine<any, any, any>) => void} */
export const serve = (makeEngine) => {
  /** @type {ReturnType<typeof makeEngine>} */
  let engine;
  globalThis.onmessage = ({ data }) => {
    if (data.packed) {
      engine = makeEngine(data.sizes, data.packed);
      return;
    }
    const steps = engine(data);
    let step = steps.next();
    while (!step.done) step = steps.next();
    postMessage(step.value);
  };
};

// Runs the model, one question at a time. Of those that wait only the newest stays; the others get null, as do all once
// it has ended. `ready` is the first answer; it fails where there is none.
/**
 * @template Sizes, Question, Answer
 * @param {MakeEngine<Sizes, Question, Answer>} makeEngine
 * @param {Sizes} sizes
 * @param {Packed16} packed
 */
export const makeHost = (makeEngine, sizes, packed) => {
  /** @type {() => Host<Question, Answer>} */
  const here = () => onPage(makeEngine, sizes, packed);
  /** @type {Host<Question, Answer>} */
  let host = SCRIPT && location.protocol !== "file:" ? inWorker(SCRIPT, sizes, packed) : here();
  /** @type {Promise<unknown>} */
  let running = Promise.resolve();
  let newest = 0;
  let ended = false;
  /** @type {(answer: Promise<Answer>) => void} */
  let begin = () => {};
  /** @type {Promise<Answer>} */
  const ready = new Promise((settle) => (begin = settle));
  const ask = async (/** @type {Question} */ question) => {
    const mine = ++newest;
    await running;
    if (mine !== newest) return null;
    // Where there can be no worker, or where it has failed, the page takes over.
    const takeOver = () => {
      host.end();
      host = here();
      return host.run(question);
    };
    const answer = host.run(question).catch(takeOver);
    running = answer.catch(() => {}); // the next question may be one that can be answered
    begin(answer);
    const given = await answer;
    return ended ? null : given;
  };
  const end = () => {
    ended = true;
    host.end();
  };
  return { ask, ready, end };
};
