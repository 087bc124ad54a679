// The course's EncoderDecoder on one sentence and what is written of its translation, every intermediate result kept.

/** @import { DecoderBlockRun, Parameters, Reading, RunTranslator, TranslatorChanges, TranslatorSizes } from "../../types" */
import { makeParts } from "./block.js";
import { countKept, extend, extendBlock } from "./past.js";

/** @type {(sizes: TranslatorSizes, parameters: Parameters) => RunTranslator} */
export const makeTranslator = (sizes, parameters) => {
  const width = sizes.heads * sizes.headWidth;
  const { apply, norm, attendToItself, readMemory, attendToMemory, feedForward } = makeParts(sizes, parameters);

  // The symbols from `start` on, with a sine and a cosine of each wavelength added for their positions.
  /** @type {(symbols: number[], start: number) => Float32Array} */
  const embed = (symbols, start) => {
    const tokens = new Float32Array((symbols.length - start) * width);
    for (let i = 0; i < tokens.length; i++) {
      const [token, feature] = [start + Math.floor(i / width), i % width];
      const angle = token * sizes.base ** (-(feature - (feature % 2)) / width);
      const place = feature % 2 ? Math.cos(angle) : Math.sin(angle);
      tokens[i] = parameters["embedding.weight"].values[symbols[token] * width + feature] + place;
    }
    return tokens;
  };

  // Pauses after each block, so that a page can do something else.
  /** @type {(source: number[], changes: TranslatorChanges) => Generator<void, Reading>} */
  const read = function* (source, changes) {
    const embedding = embed(source, 0);
    const blocks = [];
    let stream = embedding;
    for (let index = 0; index < sizes.blocks; index++) {
      const name = `encoder.blocks.${index}`;
      const out = changes.encoder.includes(index);
      const attended = attendToItself(name, stream, { start: 0, masked: false, out });
      blocks.push({ ...attended, ...feedForward(name, attended.middle, out) });
      stream = blocks[index].stream;
      yield;
    }
    const memory = norm("encoder.norm", stream);
    const asked = blocks.map((_, index) => readMemory(`decoder.blocks.${index}`, memory));
    return { embedding, blocks, memory, asked };
  };

  /** @type {(index: number, tokens: Float32Array, start: number, reading: Reading, changes: TranslatorChanges, past?: DecoderBlockRun) => DecoderBlockRun} */
  const writeBlock = (index, tokens, start, reading, changes, past) => {
    const name = `decoder.blocks.${index}`;
    const out = changes.decoder.includes(index);
    const itself = attendToItself(name, tokens, { start, masked: true, out, past });
    const crossed = attendToMemory(name, itself.middle, reading.asked[index], { out, off: changes.heads[index] });
    return { ...itself, ...crossed, ...feedForward(name, crossed.afterCross, out) };
  };

  return function* (source, previous, changes, past) {
    const same = JSON.stringify([past?.source, past?.changes]) === JSON.stringify([source, changes]);
    const kept = same ? past : null;
    const reading = kept ? kept.reading : yield* read(source, changes);
    const start = countKept(previous, kept?.previous);
    const embedding = embed(previous, start);
    /** @type {DecoderBlockRun[]} */
    const blocks = [];
    let stream = embedding;
    for (let index = 0; index < sizes.blocks; index++) {
      blocks.push(writeBlock(index, stream, start, reading, changes, kept?.blocks[index]));
      stream = blocks[index].stream;
      yield;
    }
    const logits = apply("lm_head", norm("decoder.norm", stream));
    const run = { source, previous, changes, reading, embedding, blocks, logits };
    if (!start || !kept) return run;
    const share = start / kept.previous.length;
    return {
      ...run,
      embedding: extend(kept.embedding, share, embedding),
      blocks: blocks.map((block, index) => extendBlock(kept.blocks[index], share, block)),
      logits: extend(kept.logits, share, logits),
    };
  };
};
