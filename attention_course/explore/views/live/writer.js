// What a model writes on: a run of characters for each press of a button, which can be stopped and taken back.

/** @import { Chosen, ModelData, Sight } from "../../types" */
import { drawSymbol } from "./sampling.js";

/**
 * @param {ModelData} data
 * @param {Chosen} chosen - Its text is what the model reads, and is written on.
 * @param {() => Promise<Sight | null>} update - Runs the model on it; nothing where the reader was faster.
 * @param {(text: string) => void} show - Shows another text.
 */
export const makeWriter = (data, chosen, update, show) => {
  /** @type {number[]} */
  let runs = []; // how many characters at the end each press of a button has written
  /** @type {{ many: boolean, left: number } | null} */
  let writing = null; // the run that writes, and how many characters it has yet to write

  const stop = () => {
    writing = null;
    runs = runs.filter(Boolean); // stopped before its first character, or begun at the limit
    update();
  };
  const write = async (/** @type {number} */ count) => {
    if (writing) {
      writing.left += count; // pressed again before its character came
      return;
    }
    const mine = (writing = { many: count > 1, left: count });
    if (mine.many) runs.push(0);
    while (writing === mine && mine.left > 0 && chosen.text.length < data.limit) {
      const answer = await update();
      if (writing !== mine) return;
      if (!answer) continue; // the reader has changed the model meanwhile: ask again
      const logits = answer.lenses[answer.lenses.length - 1].slice(-data.vocabulary.length);
      const symbol = drawSymbol(logits, chosen.sampling, chosen.text.length);
      if (mine.many) runs[runs.length - 1]++;
      else runs.push(1);
      mine.left--;
      show(chosen.text + data.vocabulary[symbol]);
    }
    if (writing === mine) stop();
  };
  return {
    write,
    stop,
    takeBack() {
      const count = runs.pop() ?? 0;
      show(chosen.text.slice(0, chosen.text.length - count));
      update();
    },
    /** What the reader types is the reader's, all of it where another text begins. */
    interrupt(/** @type {boolean} */ another) {
      writing = null;
      if (another) runs = [];
    },
    written: () => runs.reduce((sum, count) => sum + count, 0),
    get busy() {
      return writing !== null;
    },
    get many() {
      return writing?.many === true;
    },
  };
};
