/** The thread that chunks one long text: it loads the tokenizer of the embedding model, answers once, and ends. */
import { parentPort, workerData } from "node:worker_threads";
import { chunkerNamed } from "../chunkers/index.ts";
import { type ModelsConfig, createEmbeddingModel } from "../models/embedding-model.ts";
import type { ChunkingJob } from "./chunking.ts";

const { job, models } = workerData as { job: ChunkingJob; models: ModelsConfig };
// It is ended from outside where its document is cancelled: a model that computes or loads there would take the process with it.
const embedding = await createEmbeddingModel(models, { embedsSoon: false });
parentPort?.postMessage(chunkerNamed(job.chunkerName)(job.units, job, embedding));
await embedding.close();
