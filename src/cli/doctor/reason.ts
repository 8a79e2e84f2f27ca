/** Says in one line why something failed, without secrets. */
import { redactText } from "../../process/log.ts";

const MAX_CAUSES = 5;
const MAX_CHARACTERS = 300;
/** Prefers the innermost reason, because an outer one such as `fetch failed` helps nobody. */
export function reasonOf(error: unknown): string {
  const said = [...messages(error)];
  const text = said.join(": ").replaceAll(/\s+/g, " ").trim() || "an error without a message";
  const clean = redactText(text);
  return clean.length > MAX_CHARACTERS ? `${clean.slice(0, MAX_CHARACTERS)}…` : clean;
}

function* messages(error: unknown): Generator<string> {
  const seen = new Set<string>();
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < MAX_CAUSES; depth++) {
    const message = messageOf(at);
    if (message !== "" && !seen.has(message)) yield message.replace(/\.$/, "");
    seen.add(message);
    // If several addresses were tried, the first error stands for all.
    at =
      at instanceof AggregateError ? (at.errors[0] as unknown) : at instanceof Error ? at.cause : undefined;
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : "";
  if (error.message !== "") return error.message;
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
