/** Reads what another service says of when to come back. */

/** Whoever asks for a longer pause is asked again after a day. */
const MAX_SECONDS = 86_400;

/**
 * Seconds to wait by a header `Retry-After`, a number or a date, 0 to 86,400; undefined if it is neither.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 * @example parseRetryAfter("3") // 3
 */
export function parseRetryAfter(text: string | null | undefined, now = Date.now()): number | undefined {
  const seconds = parseNumber(text) ?? secondsUntil(text, now);
  return seconds === undefined ? undefined : withinBounds(seconds);
}

/** The same by the header `retry-after-ms` of OpenAI's services. */
export function parseRetryAfterMs(text: string | null | undefined): number | undefined {
  const milliseconds = parseNumber(text);
  return milliseconds === undefined ? undefined : withinBounds(milliseconds / 1_000);
}

function parseNumber(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function secondsUntil(text: string | null | undefined, now: number): number | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : (at - now) / 1_000;
}

const withinBounds = (seconds: number): number => Math.min(Math.max(seconds, 0), MAX_SECONDS);
