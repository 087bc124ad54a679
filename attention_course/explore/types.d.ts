// What Python hands to the views and to the script that mounts them on a page. For the type checker: nothing loads it.

export type Row<Cell> = readonly Cell[]; // a cell for each key
export type Grid<Cell> = readonly Row<Cell>[]; // a row for each query
export type Mask = "none" | "causal" | "padding" | "sliding window";
export type Packed = { bytes: string; dtype: "float32" | "float64" | "uint12" }; // scores, or weights of 12 bits

export type AttentionData = {
  alt: string;
  queries: string[];
  keys: string[];
  models: { layers: number; heads: number; numbers: Packed; note: string }[]; // (layers, heads, queries, keys), flat
  masks: Mask[];
  gold: Grid<boolean> | null;
  frames?: { note: string; dashed: Grid<boolean> }; // where there are two kinds of gold
  cut: boolean; // whether there are keys that are not shown
  offset: number; // how many more keys than queries there are, before any were cut
  length: number; // of the keys that are no padding, where that mask is offered
  window: number;
  query: number; // whose weights are written out at first
};
export type AttentionValues = {
  data: AttentionData;
  temperature: number;
  mask: number; // among data.masks
  layer: number; // 0 is all of them
  head: number; // 0 is all of them
  heads: number; // among data.models
  gold: boolean;
  faint: boolean; // whether weak weights get stronger colours
};

export type FramesData = {
  alt: string;
  frames: string[];
  captions: string[] | null;
  sliders: { name: string; values: string[] }[];
  plays: number; // milliseconds for a step, where it goes through them by itself; otherwise 0
};
export type FramesValues = { data: FramesData; first: number; second: number };

export type Matrix = number[][];

export type StateData = {
  alt: string;
  names: string[];
  letters: string[];
  keys: Matrix; // a row for each name
  pairs: [name: number, letter: number][]; // in the order in which they are written
  shares: number[]; // of the state that a step may keep
};
export type StateValues = {
  data: StateData;
  rule: number; // 0 adds, 1 writes only what is new
  kept: number; // among data.shares
  written: number; // how many pairs
};
export type StateRun = (
  delta: boolean,
  kept: number,
  written: number,
) => { state: Matrix; added: number[]; readings: Matrix }; // what was written last, and what each name reads

// Numbers of 16 bits, as attention_course/support/float16_weights.py packs them.
export type Packed16 = { weights: string; shapes: [name: string, rows: number, columns: number][] };
export type Matrix32 = { rows: number; columns: number; values: Float32Array };
export type Parameters = Record<string, Matrix32>;

export type AttentionSizes = {
  heads: number;
  keyHeads: number;
  headWidth: number;
  epsilon: number; // of the layer norms
};
export type ModelSizes = AttentionSizes & {
  blocks: number;
  base: number | null; // of the angles that queries and keys are turned by, if they are
  masked: boolean; // whether it was trained with the future hidden
  means: boolean; // whether it comes with what each head says on average, as `blocks.0.means` and so on
};
// What the reader has changed about the model.
export type Changes = {
  heads: number[][]; // for each block the heads that are off
  blocks: number[]; // those that are left out
  positions: boolean;
  masked: boolean; // whether the future is hidden
  means: boolean; // whether a head that is off says its mean; zeros else
};
// Bits a character on unread text: of the whole model, and with one part off.
export type Costs = {
  n_pieces: number; // of the text
  length: number; // of each
  bits: number;
  zeros: Matrix; // for each block and head
  with_means: Matrix;
  blocks: number[];
  positions: number;
  mask: number;
};
export type Heads = Float32Array[][]; // for each head a row for each query, over the keys that it may attend to
export type SelfAttention = Record<
  "attentionNorm" | "query" | "key" | "value" | "turnedQuery" | "turnedKey" | "blended" | "attended" | "middle",
  Float32Array
> & { scores: Heads; weights: Heads };
export type CrossAttention = Record<"crossNorm" | "crossQuery" | "crossBlended" | "crossed" | "afterCross", Float32Array> &
  Record<"crossScores" | "crossWeights", Heads>;
export type FedForward = Record<"feedForwardNorm" | "hidden" | "active" | "fed" | "stream", Float32Array>;
export type BlockRun = SelfAttention & FedForward;
export type DecoderBlockRun = SelfAttention & CrossAttention & FedForward;
export type KeysAndValues = { key: Float32Array; value: Float32Array };
// `first` is how many keys the first query may attend to; each that follows may attend to one more.
// A head that is off says its part of `means`, or zeros.
export type Attend = (
  query: Float32Array,
  key: Float32Array,
  value: Float32Array,
  first: number,
  off: number[],
  means?: Float32Array,
) => {
  scores: Heads;
  weights: Heads;
  blended: Float32Array;
};
// What a block's halves are told: whether it is left out, and which heads are off.
export type Parts = {
  apply(name: string, tokens: Float32Array): Float32Array;
  norm(name: string, tokens: Float32Array): Float32Array;
  attendToItself(
    name: string,
    tokens: Float32Array,
    how: {
      start: number; // how many tokens stand before these
      masked: boolean;
      out: boolean;
      off?: number[];
      means?: Float32Array;
      turn?: (vectors: Float32Array, width: number) => Float32Array; // queries and keys, by their positions
      past?: SelfAttention;
    },
  ): SelfAttention;
  readMemory(name: string, memory: Float32Array): KeysAndValues;
  attendToMemory(
    name: string,
    tokens: Float32Array,
    memory: KeysAndValues,
    how: { out: boolean; off: number[] },
  ): CrossAttention;
  feedForward(name: string, tokens: Float32Array, out: boolean): FedForward;
};
export type Run = {
  symbols: number[];
  changes: Changes;
  embedding: Float32Array;
  blocks: BlockRun[];
  lenses: Float32Array[]; // the logits of every token, were the stream read before the first block, then after each
};
// As much of a run as a view shows, for each block or each place of the stream, then for each token.
export type Sight = {
  symbols: number[];
  changes: Changes;
  weights: Heads[];
  additions: { attended: number[]; fed: number[] }[]; // lengths of what each block's two halves add
  streams: number[][]; // lengths of the stream before the first block, then after each
  lenses: Float32Array[];
  bits: number[]; // the cost of each symbol but the first
  intactBits: number[]; // its cost for the model without the changes
};
export type Question = { symbols: number[]; changes: Changes };
// A model that answers the questions of its view; it pauses where the page may do something else.
export type MakeEngine<Sizes, Question, Answer> = (
  sizes: Sizes,
  packed: Packed16,
) => (question: Question) => Generator<void, Answer>;
// The weights that are on show as maps: of each block and head, over all keys or, where masked, those up to the query.
export type Looks = {
  queries: string[];
  keys: string[];
  weights: Heads[];
  masked: boolean;
  legend: string; // beside many maps
  unit?: string; // what a row is: "word" unless told
  diagonal?: boolean; // whether the maps show where a token looks at itself
  isOff: (block: number, head: number) => boolean;
};
export type Sampling = { temperature: number; topK: number; topP: number; seed: number };
export type Chosen = {
  model: number; // which of those that are offered
  text: string;
  typed: string; // what stands in the box: another text where the model cannot read it, or not all of it
  selected: number; // the token that is followed
  changes: Changes;
  sampling: Sampling;
  block: number; // whose weights are shown, counted from 1; 0 is all of them
  head: number;
  open: number[]; // the folds that are
};
export type ModelData = {
  alt: string;
  text: string;
  examples: string[];
  vocabulary: string; // the symbols' characters
  limit: number; // characters of a text
  head: [block: number, head: number] | null; // whose weights are shown at first, counted from 1
  steps: Steps;
  models: OneModel[];
} & OneModel;
export type OneModel = {
  name: string;
  sizes: ModelSizes;
  checkpoint: string; // the weights, as in Packed16, or the address of the site's file that holds them
  shapes: Packed16["shapes"];
  costs?: Costs;
};
export type ModelValues = { data: Omit<ModelData, keyof OneModel> };
export type RunModel = (symbols: number[], changes: Changes, past: Run | null) => Generator<void, Run>;

export type TranslatorSizes = AttentionSizes & {
  blocks: number; // of the encoder, and of the decoder
  base: number; // of the positions' wavelengths
  start: number; // the symbol before the first that is written
};
// What the reader has changed about the translator.
export type TranslatorChanges = {
  heads: number[][]; // for each decoder block the heads of its cross-attention that are off
  encoder: number[]; // blocks that are left out
  decoder: number[];
};
// The encoder's run, and the memory's keys and values for each decoder block.
export type Reading = {
  embedding: Float32Array;
  blocks: BlockRun[];
  memory: Float32Array;
  asked: KeysAndValues[];
};
export type TranslationRun = {
  source: number[];
  previous: number[]; // the start, then what is written
  changes: TranslatorChanges;
  reading: Reading;
  embedding: Float32Array;
  blocks: DecoderBlockRun[];
  logits: Float32Array; // of the word after each of the previous
};
export type RunTranslator = (
  source: number[],
  previous: number[],
  changes: TranslatorChanges,
  past: TranslationRun | null,
) => Generator<void, TranslationRun>;
export type TranslationQuestion = {
  source: number[];
  written: number[];
  done: boolean; // whether nothing may follow what is written
  changes: TranslatorChanges;
};
export type TranslationSight = {
  source: number[];
  written: number[];
  changes: TranslatorChanges;
  weights: Heads[]; // of each decoder block's cross-attention: a row for each word, and for the next unless done
  logits: Float32Array; // of each word, and of the next unless done
  intactLogits: Float32Array; // the same without the changes
};
// What the reader has chosen, as a link carries it.
export type Translating = {
  text: string; // the sentence as it was typed
  written: number[];
  forced: number[]; // places of words that the reader chose
  selected: number;
  changes: TranslatorChanges;
  block: number; // whose weights are shown, counted from 1; 0 is all of them
  head: number;
};
export type TranslatorData = {
  alt: string;
  text: string;
  examples: string[];
  vocabulary: string[];
  words: string[]; // those that may be typed
  end: string; // the word that ends a sentence
  limit: number; // words of a sentence, and of its translation
  sizes: TranslatorSizes;
  checkpoint: string; // as in OneModel
  shapes: Packed16["shapes"];
};
export type TranslatorValues = { data: TranslatorData };

// As much of Jupyter's model as a view uses.
export type Model<Values> = {
  get<Name extends keyof Values>(name: Name): Values[Name];
  set<Name extends keyof Values>(name: Name, value: Values[Name]): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
  save_changes(): void;
};
export type Render<Values> = (place: { model: Model<Values>; el: HTMLElement }) => () => void;

export type Control = {
  kind: "temperature" | "slider" | "choice" | "check";
  name: string;
  label: string;
  trait: string;
  options: string[];
};
export type Steps = { low: number; high: number; decade: number };
// How a control's position becomes the model's value, and back, and what its output says.
export type Kind<Input, Value> = {
  read(input: Input, steps: Steps): Value;
  write(input: Input, value: Value, steps: Steps): void;
  say?(value: Value, control: Control): string;
};
export type Kinds = {
  temperature: Kind<HTMLInputElement, number>;
  slider: Kind<HTMLInputElement, number>;
  choice: Kind<HTMLSelectElement, number>;
  check: Kind<HTMLInputElement, boolean>;
};

// Makes an element, and puts it last into its parent.
export type Make = <Tag extends keyof HTMLElementTagNameMap>(
  parent: Element,
  tag: Tag,
  name?: string,
  text?: string,
) => HTMLElementTagNameMap[Tag];

declare global {
  const views: Record<string, { render: Render<any> }>; // on the site all views stand before the script that mounts
  var courseLiveViews: Record<string, { render: Render<any> }> | undefined; // on pages of the site that have a live one
  var courseModels: Record<string, string> | undefined; // by their names, the weights that files of the site hold
  interface HTMLElement {
    explorer?: any; // on a view's root: what it shows, for tests and for the curious
  }
}
