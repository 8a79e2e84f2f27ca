/** A thread that chunks long texts, one after the other: it loads the tokenizer of the embedding model once. */
import { parentPort, workerData } from "node:worker_threads";
import { chunkerNamed } from "../../chunkers/index.ts";
import { DomainError } from "../../domain/errors.ts";
import { type ModelsConfig, createEmbeddingModel } from "../../models/embedding/embedding-model.ts";
import type { ChunkingAnswer, ChunkingJob } from "./chunking.ts";

// It is ended from outside where its document is cancelled: a model that computes or loads there would take the process with it.
const embedding = await createEmbeddingModel(workerData as ModelsConfig, { embedsSoon: false });

function answer(job: ChunkingJob): ChunkingAnswer {
  try {
    return { chunks: chunkerNamed(job.chunkerName)(job.units, job, embedding) };
  } catch (error) {
    // The class of an error does not survive the way between threads.
    return error instanceof DomainError ? { code: error.code, message: error.message } : { error };
  }
}

parentPort!.on("message", (job: ChunkingJob) => parentPort!.postMessage(answer(job)));
