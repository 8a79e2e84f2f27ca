/** The official client of OpenAI, as a caller of a stack. */
import OpenAI from "openai";

export function openAi(url: string, apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

/** A file for the client, which sends it under its name. */
export const textFile = (text: string, name = "note.md"): File => new File([text], name);

/** What a call of the client raised. @throws Error if it did not. */
export async function raised(called: PromiseLike<unknown>): Promise<unknown> {
  const outcome = await Promise.resolve(called).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome === undefined) throw new Error("the call raised nothing");
  return outcome;
}
