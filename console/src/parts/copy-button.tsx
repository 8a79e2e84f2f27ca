import { Button, type ButtonProps, CopyButton as MantineCopyButton } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../messages/messages.ts";
import { messages } from "./messages.ts";

interface Props extends ButtonProps {
  readonly value: string;
  /** What is copied, for those who hear it. */
  readonly label?: string;
}

export function CopyButton({ value, label, ...button }: Props): ReactNode {
  const texts = useMessages(messages);
  return (
    <MantineCopyButton value={value}>
      {({ copied, copy }) => (
        <Button size="xs" variant="default" {...button} onClick={copy} aria-live="polite">
          {copied ? texts.copied : (label ?? texts.copy)}
        </Button>
      )}
    </MantineCopyButton>
  );
}
