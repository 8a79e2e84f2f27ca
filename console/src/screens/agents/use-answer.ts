import type { Schemas } from "@holdfast/client";
import { useEffect, useRef, useState } from "react";
import { useHoldfast } from "../../app/context.ts";

interface TrialAnswer {
  readonly text: string;
  readonly citations: readonly Schemas["Citation"][];
  readonly tools: readonly Schemas["ToolProgress"][];
  readonly isRunning: boolean;
  readonly error: unknown;
}

const NOTHING: TrialAnswer = { text: "", citations: [], tools: [], isRunning: false, error: null };

interface Asking {
  readonly answer: TrialAnswer;
  ask(question: string): void;
  stop(): void;
}

/** The streamed answer to one question, which ends with the screen. */
export function useAnswer(agentId: string): Asking {
  const holdfast = useHoldfast();
  const [answer, setAnswer] = useState(NOTHING);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function read(question: string, { signal }: AbortController): Promise<void> {
    const pieces = holdfast.askInPieces({ agent: agentId, question, signal });
    for await (const { text, citations, tools = [] } of pieces)
      setAnswer((before) => ({
        ...before,
        text: before.text + text,
        citations: citations ?? before.citations,
        tools: [...before.tools.filter(({ id }) => tools.every((tool) => tool.id !== id)), ...tools],
      }));
  }

  return {
    answer,
    stop: () => running.current?.abort(),
    ask(question) {
      const controller = new AbortController();
      running.current = controller;
      setAnswer({ ...NOTHING, isRunning: true });
      read(question, controller).then(
        () => setAnswer((before) => ({ ...before, isRunning: false })),
        (error: unknown) =>
          setAnswer((before) => ({
            ...before,
            isRunning: false,
            error: controller.signal.aborted ? null : error,
          })),
      );
    },
  };
}
