/** Embeddings of the caller's texts, by the model that documents are embedded with. */
import type { z } from "zod";
import { authorizeListing } from "../../../auth/policy.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { EmbeddingModel } from "../../../models/embedding/types.ts";
import { toUnitLength } from "../../../models/embedding/openai.ts";
import { boundedCount } from "../../../models/tokens/bounded.ts";
import { EmbeddingList, EmbeddingRequest } from "../../../schema/openai/embeddings.ts";
import { defineRoute } from "../../route.ts";

const TIMEOUT_MS = 60_000;

export const createEmbeddings = defineRoute("POST /embeddings", {
  operation: "embeddings.create",
  form: "openai",
  access: "keys",
  capability: "search",
  audit: { action: "documents:search", resource: "organization", isChange: false },
  body: EmbeddingRequest,
  response: EmbeddingList,
  ignoresUnknown: true,
  errors: [404, 502, 504],
  summary: "Embed texts with the model of the instance.",
  description:
    "The vectors have unit length. What is longer than the built-in model reads is cut, as it is in " +
    "documents; a provider's model refuses it. Nothing is stored.",
  async handle({ deps, principal, body, request }) {
    authorizeListing(principal, "documents:search");
    const { embedding: model } = deps;
    if (body.model !== model.name)
      throw new DomainError(
        "model_not_found",
        `Model '${body.model}' not found: texts are embedded by '${model.name}'`,
        { param: "model" },
      );
    requireDimensions(model, body.dimensions);
    const texts = textsOf(model, body.input);
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const vectors = await deps.textEmbedding
      .forWork({
        priority: "now",
        organizationId: principal.organization.id,
        userId: principal.user.id,
        size: texts.length,
      })
      .embed(texts, "passage", signal)
      .catch((error: unknown) => {
        throw inTime(error, request.signal);
      });
    const count = boundedCount((text) => model.countTokens(text));
    const tokens = texts.reduce((sum, text) => sum + count(text), 0);
    return {
      object: "list" as const,
      data: vectors.map((vector, index) => ({
        object: "embedding" as const,
        index,
        embedding: encoded(known(vector, index), body),
      })),
      model: model.name,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    };
  },
});

type Asked = z.output<typeof EmbeddingRequest>;

/** @throws DomainError if the model's vectors cannot have that length. */
function requireDimensions({ name, dimensions, isShortenable }: EmbeddingModel, asked?: number): void {
  if (asked === undefined || asked === dimensions || (isShortenable && asked < dimensions)) return;
  const length = isShortenable ? `at most ${dimensions}` : String(dimensions);
  throw new DomainError("bad_request", `The vectors of '${name}' have ${length} dimensions.`, {
    param: "dimensions",
  });
}

/** @throws DomainError for token ids of a model whose tokenizer is not known, or that it has not. */
function textsOf({ name, decodeTokens }: EmbeddingModel, input: Asked["input"]): string[] {
  if (typeof input === "string") return [input];
  const inputs = isTokens(input) ? [input] : (input as readonly (string | number[])[]);
  return inputs.map((one) => {
    if (typeof one === "string") return one;
    if (decodeTokens === undefined)
      throw new DomainError("bad_request", `The tokenizer of '${name}' is not known: send texts.`, {
        param: "input",
      });
    try {
      return decodeTokens(one);
    } catch {
      throw new DomainError("bad_request", `The tokenizer of '${name}' does not have all of these tokens.`, {
        param: "input",
      });
    }
  });
}

const isTokens = (input: readonly unknown[]): input is number[] => typeof input[0] === "number";

/** @throws DomainError if the model gave none. */
function known(vector: Float32Array | null, index: number): Float32Array {
  if (vector !== null) return vector;
  throw new DomainError("bad_request", "The model rejects this text.", { param: `input[${index}]` });
}

function encoded(vector: Float32Array, { dimensions, encoding_format: format }: Asked): number[] | string {
  const shortened =
    dimensions === undefined || dimensions === vector.length
      ? vector
      : (toUnitLength(vector.subarray(0, dimensions)) ?? vector.subarray(0, dimensions));
  if (format === "float") return [...shortened];
  return Buffer.from(shortened.buffer, shortened.byteOffset, shortened.byteLength).toString("base64");
}

/** A time that is over is the provider's failure, unless the caller has left. */
function inTime(error: unknown, gone: AbortSignal): unknown {
  const isLate = error instanceof Error && error.name === "TimeoutError" && !gone.aborted;
  return isLate
    ? new DomainError("provider_timeout", "The embedding model took too long.", { cause: error })
    : error;
}
