import { Textarea } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { type Fields, isSame } from "./fields.ts";
import { messages } from "./messages.ts";

type Config = Fields["reasoning_config"];

interface Props {
  readonly value: Config;
  readonly problem: string | undefined;
  readonly onChange: (value: Config) => void;
  readonly onValid: (isValid: boolean) => void;
}

/** An object of any form, typed as JSON; what is not JSON yet stays as it was typed. */
export function Reasoning({ value, problem, onChange, onValid }: Props): ReactNode {
  const texts = useMessages(messages);
  const [typed, setTyped] = useState(() => textOf(value));
  const parsed = objectOf(typed);
  // Changed from outside: discarded, or somebody else's.
  const text = parsed === undefined || isSame(parsed, value) ? typed : textOf(value);
  return (
    <Textarea
      label={texts.fields.reasoning_config}
      description={texts.hints.reasoning_config}
      autosize
      maxRows={12}
      ff="monospace"
      dir="ltr"
      spellCheck={false}
      value={text}
      error={parsed === undefined ? texts.notJson : problem}
      onChange={({ currentTarget }) => {
        const next = objectOf(currentTarget.value);
        setTyped(currentTarget.value);
        onValid(next !== undefined);
        if (next !== undefined) onChange(next);
      }}
    />
  );
}

const textOf = (value: Config): string => (value === null ? "" : JSON.stringify(value, null, 2));

/** undefined: not JSON, or not an object. */
function objectOf(text: string): Config | undefined {
  if (text.trim() === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Config)
      : undefined;
  } catch {
    return undefined;
  }
}
