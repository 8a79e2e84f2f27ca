/** What the console says of the service's codes; of those that it does not know, what the service says. */
import type { useMessages } from "../../../messages/messages.ts";
import type { messages } from "./messages.ts";

export type StateTexts = ReturnType<typeof useMessages<typeof messages.en>>;

export const textOf = (texts: Readonly<Record<string, string>>, code: string): string | undefined =>
  Object.hasOwn(texts, code) ? texts[code] : undefined;

/** "for the model provider, which cannot be reached" */
export function waitTextOf({ other, ...texts }: StateTexts["waiting"], code: string): string {
  return textOf(texts, code) ?? other(code);
}

/** Why a run failed, and what to do. */
export function failureTextOf(
  { failures, remedies }: StateTexts,
  { code, message }: { readonly code: string; readonly message: string },
): string {
  return `${textOf(failures, code) ?? message} ${textOf(remedies, code) ?? ""}`.trim();
}
