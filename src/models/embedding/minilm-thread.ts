/** The local embedding model's worker thread: ONNX Runtime computes on the thread that calls it. */
import { parentPort, workerData } from "node:worker_threads";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { loadWordPiece } from "./wordpiece.ts";

export interface ThreadData {
  readonly modelPath: string;
  readonly vocabularyPath: string;
  readonly maxTokens: number;
}
export type ThreadMessage = { readonly text: string } | "end";
export type ThreadAnswer = { readonly vector: Float32Array } | { readonly error: string };

const port = parentPort;
if (port === null) throw new Error("minilm-thread.ts runs as a worker thread only.");
// local-minilm.ts starts this thread and sets its data.
const { modelPath, vocabularyPath, maxTokens } = workerData as ThreadData;
const tokenizer = loadWordPiece(vocabularyPath);
const session = await InferenceSession.create(modelPath, {
  // Two sessions of one thread each embed more texts a second than one session of two threads.
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
});

function integers(values: readonly number[]): Tensor {
  return new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
}

/** Mean over all tokens, scaled to unit length. */
function pool(states: Float32Array, tokens: number): Float32Array {
  const dimensions = states.length / tokens;
  const vector = new Float32Array(dimensions);
  for (let token = 0; token < tokens; token++) {
    for (let dimension = 0; dimension < dimensions; dimension++)
      vector[dimension]! += states[token * dimensions + dimension]!;
  }
  const length = Math.hypot(...vector);
  for (let dimension = 0; dimension < dimensions; dimension++) vector[dimension]! /= length;
  return vector;
}

async function embed(text: string): Promise<Float32Array> {
  const ids = tokenizer.ids(text, maxTokens);
  const outputs = await session.run({
    input_ids: integers(ids),
    attention_mask: integers(ids.map(() => 1)),
    token_type_ids: integers(ids.map(() => 0)),
  });
  const states = outputs["last_hidden_state"]?.data;
  if (!(states instanceof Float32Array)) throw new Error("The model gave no last_hidden_state.");
  return pool(states, ids.length);
}

async function answer(text: string): Promise<void> {
  try {
    const vector = await embed(text);
    port?.postMessage({ vector } satisfies ThreadAnswer, [vector.buffer as ArrayBuffer]);
  } catch (error) {
    // Without the message, which could quote the text.
    port?.postMessage({ error: error instanceof Error ? error.name : "Error" } satisfies ThreadAnswer);
  }
}

/** Ends the thread after its text: ended from outside while it computes, it ends the process. */
async function end(): Promise<void> {
  await session.release();
  port?.close();
}

let work = Promise.resolve();
port.on("message", (message: ThreadMessage) => {
  work = work.then(() => (message === "end" ? end() : answer(message.text)));
});
