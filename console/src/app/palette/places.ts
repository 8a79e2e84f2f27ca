import type { Holdfast } from "@holdfast/client";
import { answerOf } from "../../api/client.ts";

export interface Place {
  /** Within the console. */
  readonly href: string;
  readonly name: string;
  readonly kind: "screen" | "space" | "agent" | "document";
}

const FOUND = 8;

/** Agents and documents whose name has `text` in it. */
export async function findPlaces({ api }: Holdfast, text: string): Promise<readonly Place[]> {
  const params = { query: { limit: FOUND } };
  const [agents, documents] = await Promise.all([
    answerOf(api.POST("/v1/agents/search", { params, body: { filters: { name__icontains: text } } })),
    answerOf(
      api.POST("/v1/data/search", {
        params,
        body: { filters: { "doc_metadata.original_filename__icontains": text } },
      }),
    ),
  ]);
  return [
    ...agents.items.map(({ id, name }): Place => ({ href: `/agents/${id}`, name, kind: "agent" })),
    ...documents.items.map(({ id, doc_metadata: metadata }): Place => ({
      href: `/documents/${id}`,
      name: String(metadata["original_filename"]),
      kind: "document",
    })),
  ];
}
