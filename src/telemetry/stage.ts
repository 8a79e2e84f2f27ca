/** Measures a stage of work: its seconds go into a histogram and its trace gets a span of the same name. */
import type { Histogram } from "prom-client";
import { pipelineStages, searchStages } from "./instruments.ts";
import { inSpan } from "./span.ts";

export type SearchStage =
  | "embed query"
  | "wait"
  | "scope"
  | "dense"
  | "sparse"
  | "hits"
  | "rerank"
  | "rerank by model"
  | "context";
export type PipelineStage = "read" | "parse" | "chunk" | "write" | "embed" | "publish";

export async function searchStage<T>(stage: SearchStage, work: () => Promise<T>): Promise<T> {
  return measured(searchStages, `search ${stage}`, stage, work);
}

export async function pipelineStage<T>(stage: PipelineStage, work: () => Promise<T>): Promise<T> {
  return measured(pipelineStages, `pipeline ${stage}`, stage, work);
}

/** Failed stages count too. */
async function measured<T>(
  histogram: Histogram<"stage">,
  name: string,
  stage: string,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  try {
    return await inSpan(name, {}, work);
  } finally {
    histogram.observe({ stage }, (performance.now() - startedAt) / 1_000);
  }
}
