/** A thread that chunks long texts, one after the other. It loads the embedding model's tokenizer once. */
import { parentPort, workerData } from "node:worker_threads";
import { chunkerNamed } from "../../chunkers/index.ts";
import { DomainError } from "../../domain/errors.ts";
import type { ModelsConfig } from "../../models/config.ts";
import { createEmbeddingModel } from "../../models/embedding/embedding-model.ts";
import type { ChunkingAnswer, ChunkingJob } from "./chunking.ts";

// The thread is terminated when its document is cancelled. A native model that computes or loads at that
// moment would crash the process.
const embedding = await createEmbeddingModel(workerData as ModelsConfig, { embedsSoon: false });

function answer(job: ChunkingJob): ChunkingAnswer {
  try {
    return { chunks: chunkerNamed(job.chunkerName)(job.units, job, embedding) };
  } catch (error) {
    // Errors lose their class between threads.
    return error instanceof DomainError ? { code: error.code, message: error.message } : { error };
  }
}

parentPort!.on("message", (job: ChunkingJob) => parentPort!.postMessage(answer(job)));
