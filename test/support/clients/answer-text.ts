/** Reads the body of an answer, whatever it is. */

/** A stream of events has no end, so nothing of it is read; the request ends with it. */
export async function answerText(response: Response): Promise<string> {
  const isEndless = new URL(response.url).pathname.replace(/\/$/, "").endsWith("/events/stream");
  if (!isEndless || !response.ok) return response.text();
  await response.body?.cancel();
  return "";
}
