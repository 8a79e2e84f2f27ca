import { Button, Group, Textarea } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, memo, useRef, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { useStable } from "../../parts/use-stable.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly onSend: (question: string) => void;
  /** Undefined while nothing is written. */
  readonly onStop: (() => void) | undefined;
}

/**
 * Where questions are written. It knows nothing of answers, so that typing stays fast while one streams in.
 */
export function Composer({ onSend, onStop }: Props): ReactNode {
  const stable = useStable({ send: onSend, stop: () => onStop?.() });
  return <Writing onSend={stable.send} onStop={stable.stop} isAnswering={onStop !== undefined} />;
}

interface WritingProps {
  readonly onSend: (question: string) => void;
  readonly onStop: () => void;
  readonly isAnswering: boolean;
}

const Writing = memo(function Writing({ onSend, onStop, isAnswering }: WritingProps): ReactNode {
  const texts = useMessages(messages);
  const input = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState("");
  useShortcuts([{ keys: "i", label: texts.focus, run: () => input.current?.focus() }]);
  const send = (): void => {
    if (text.trim() === "" || isAnswering) return;
    onSend(text.trim());
    setText("");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // While characters are being put together, as in Japanese, Enter chooses one.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Group align="flex-end" wrap="nowrap" gap="xs">
        <Textarea
          ref={input}
          aria-label={texts.question}
          placeholder={texts.placeholder}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          rows={2}
          flex={1}
          dir="auto"
        />
        {!isAnswering ? (
          <Button type="submit" disabled={text.trim() === ""}>
            {texts.send}
          </Button>
        ) : (
          <Button color="red" variant="outline" c="var(--mantine-color-error)" onClick={onStop}>
            {texts.stop}
          </Button>
        )}
      </Group>
    </form>
  );
});
