/**
 * Workflows for tests only: they send and receive what no workflow of the service does, through the same
 * seals.
 */
import {
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from "@temporalio/workflow";

type Echo = (text: string) => Promise<string>;

const { echo } = proxyActivities<{ echo: Echo }>({
  startToCloseTimeout: "1 minute",
  taskQueue: "seals-echo",
  retry: { maximumAttempts: 2 },
});
const { echoHere } = proxyLocalActivities<{ echoHere: Echo }>({
  startToCloseTimeout: "1 minute",
  retry: { maximumAttempts: 1 },
});

export const say = defineSignal<[string]>("say");
export const hush = defineSignal("hush");
export const shout = defineUpdate<string, [string]>("shout");
export const heard = defineQuery<string[], [string?]>("heard");

/** Collects what it hears until the signal `hush`, and returns all of it. */
export async function listens(first: string): Promise<string[]> {
  const texts = [first];
  let isOver = false;
  setHandler(say, (text) => {
    texts.push(text);
  });
  setHandler(hush, () => {
    isOver = true;
  });
  setHandler(shout, async (text) => texts[texts.push(await echo(text)) - 1]!);
  setHandler(heard, (prefix) => [...texts, ...(prefix === undefined ? [] : [prefix])]);
  await condition(() => isOver);
  return texts;
}

/** Runs one activity of each kind. */
export async function echoes(text: string): Promise<string[]> {
  return [await echo(text), await echoHere(text)];
}

export async function parent(text: string): Promise<string[]> {
  return executeChild(echoes, { args: [text], workflowId: `${text}/child` });
}
