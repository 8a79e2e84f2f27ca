/** When clients that wait for files to be processed are to ask again. */

export const POLL_HEADER = "openai-poll-after-ms";
/** Without it OpenAI's clients wait five seconds, ten times as long as most files take. */
export const POLL_AFTER_MS = "500";
export const POLL_HEADERS = {
  [POLL_HEADER]: "While it is `in_progress`: after how many milliseconds clients of OpenAI ask again.",
};
