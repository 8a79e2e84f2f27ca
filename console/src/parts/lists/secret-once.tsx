import { Alert, Button, Code, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import { CopyButton } from "../copy-button.tsx";
import { messages } from "./messages.ts";
import { saveText } from "./save-text.ts";

interface Props {
  readonly title: string;
  /** What it is for. */
  readonly text?: string;
  readonly secret: string;
  readonly fileName: string;
  /** A command that uses it, as it is copied; shown with the secret left out. */
  readonly example?: (secret: string) => string;
  readonly onClose: () => void;
}

const WRAPPED = { whiteSpace: "pre-wrap", overflowWrap: "anywhere" } as const;

/** A secret that the service tells once. It is closed by its button alone, so that no slip loses it. */
export function SecretOnce({ title, text, secret, fileName, example, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Alert color="yellow" variant="light">
          {texts.shownOnce}
        </Alert>
        {text !== undefined && <Text size="sm">{text}</Text>}
        <Code block aria-label={texts.secret} role="group" style={WRAPPED} data-secret>
          {secret}
        </Code>
        <Group>
          <CopyButton value={secret} data-autofocus />
          <Button size="xs" variant="default" onClick={() => saveText(`${secret}\n`, fileName)}>
            {texts.download}
          </Button>
        </Group>
        {example !== undefined && (
          <Stack gap="xs" align="flex-start">
            <Text size="sm">{texts.tryIt}</Text>
            <Code block w="100%" style={WRAPPED}>
              {example("…")}
            </Code>
            <CopyButton value={example(secret)} />
          </Stack>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>{texts.kept}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
