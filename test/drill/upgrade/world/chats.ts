/**
 * Runs the chat turns of the upgrade drill: each asks a unique question, so that its answers and model calls
 * can be counted.
 */
import { call } from "../../../support/clients/client.ts";
import type { ScriptedProvider } from "../../../support/provider/scripted-provider.ts";
import { AGENTS, KEYS } from "../../../support/tenants/tenants.ts";
import { until } from "../../../support/until.ts";

interface Question {
  readonly text: string;
  readonly modelCalls: number;
}

interface Ask {
  /** The Librarian has tools: its first model call asks for one, and its second call answers. */
  readonly agent: "analyst" | "librarian";
  readonly isStreamed?: boolean;
  /** Only the beginning of the answer is sent until {@link letGo}. */
  readonly isHeld?: boolean;
  readonly idempotencyKey?: string;
}

export interface Chats {
  readonly asked: Question[];
  /** Faults of the answers, noted as they arrive. */
  readonly faults: string[];
  /** The promise that held answers wait for. */
  hold: PromiseWithResolvers<void>;
  /** The number of answers that have started and are held now. */
  held: number;
}

const MODEL_CALLS = { analyst: 1, librarian: 2 } as const;
const PIECES = 25;
const READY_MS = 60_000;
/** Finds the question in the user's message as the model gets it, among what the agent adds. */
const QUESTION = /upgrade question \d+( held)?\./;

export const openChats = (): Chats => ({ asked: [], faults: [], hold: Promise.withResolvers(), held: 0 });

/** Lets the held answers go on. */
export function letGo(chats: Chats): void {
  chats.hold.resolve();
  chats.hold = Promise.withResolvers();
  chats.held = 0;
}

const answerTo = (question: string): string[] =>
  Array.from({ length: PIECES }, (_, index) => (index === 0 ? `To ${question}` : ` part ${index};`));

function questionOf(body: Record<string, any>): string {
  return (
    QUESTION.exec(
      JSON.stringify(body["messages"].findLast(({ role }: { role: string }) => role === "user")),
    )?.[0] ?? ""
  );
}

/** Makes the provider answer every question, after one tool call if tools are offered. */
export function scriptChats(chats: Chats, provider: ScriptedProvider): void {
  provider.replyAlways((body) => {
    const question = questionOf(body);
    if (body["tools"] !== undefined && body["messages"].at(-1).role === "user")
      return { toolCalls: [{ name: "list_documents", arguments: "{}" }] };
    if (!question.includes("held")) return { pieces: answerTo(question) };
    chats.held += 1;
    return { pieces: answerTo(question), heldBy: chats.hold.promise };
  });
}

/**
 * Asks at `url` and notes whether the answer was complete and came once. Never rejects: what goes wrong is
 * reported as a fault at the end of the drill.
 */
export async function ask(
  chats: Chats,
  url: string,
  { agent, isStreamed = false, isHeld = false, idempotencyKey }: Ask,
): Promise<Question> {
  const question = {
    text: `upgrade question ${chats.asked.length}${isHeld ? " held" : ""}.`,
    modelCalls: MODEL_CALLS[agent],
  };
  chats.asked.push(question);
  await askAgain(chats, url, question, {
    agent,
    isStreamed,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });
  return question;
}

/** Sends the same request again, as a client does that has not seen the answer. */
export async function askAgain(
  chats: Chats,
  url: string,
  question: Question,
  { agent, isStreamed = false, idempotencyKey }: Ask,
): Promise<void> {
  const body = {
    model: AGENTS[agent],
    stream: isStreamed,
    messages: [{ role: "user", content: question.text }],
  };
  const headers = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
  try {
    const answer = await call(url, KEYS.editor, "POST", "/chat/completions", body, headers);
    const text: string =
      answer.status !== 200
        ? ""
        : isStreamed
          ? textOfStream(answer.body)
          : answer.body.choices[0].message.content;
    if (text.split(answerTo(question.text).join("")).length !== 2) {
      chats.faults.push(
        `${question.text} was answered by ${answer.status} ${JSON.stringify(answer.body).slice(-300)}`,
      );
    }
  } catch (error) {
    chats.faults.push(`${question.text} was not answered: ${String((error as Error).cause ?? error)}`);
  }
}

/** Joins the pieces of a stream that ended in order; returns nothing for one that broke off. */
function textOfStream(body: string): string {
  const events = body.split("\n\n").filter((event) => event.includes("data: {"));
  const pieces = events.map(
    (event): string => JSON.parse(/^data: (.*)$/m.exec(event)![1]!).choices?.[0]?.delta?.content ?? "",
  );
  return body.trimEnd().endsWith("data: [DONE]") ? pieces.join("") : "";
}

/** Waits until the process has reached Temporal; until then it refuses chat. */
export async function chatIsReady(chats: Chats, url: string): Promise<void> {
  const text = `upgrade question ${chats.asked.length}.`;
  const body = { model: AGENTS.analyst, messages: [{ role: "user", content: text }] };
  await until(
    `chat at ${url} is ready`,
    async () => (await call(url, KEYS.editor, "POST", "/chat/completions", body)).status === 200,
    READY_MS,
  );
  chats.asked.push({ text, modelCalls: MODEL_CALLS.analyst });
}

/** Lists wrong answers, and questions for which the model was called more or less often than necessary. */
export function findChatFaults({ asked, faults }: Chats, provider: ScriptedProvider): string[] {
  const calls = provider.requests
    .filter((request) => request.route === "chat")
    .map((request) => questionOf(request.body));
  const paid = asked.map(({ text, modelCalls }) => ({
    text,
    modelCalls,
    count: calls.filter((question) => question === text).length,
  }));
  const wrong = paid.filter(({ modelCalls, count }) => count !== modelCalls);
  return [
    ...faults,
    ...wrong.map(
      ({ text, modelCalls, count }) => `the model was asked ${count} times, not ${modelCalls}: ${text}`,
    ),
  ];
}
