import { Alert, Button, Group, Text } from "@mantine/core";
import { type ReactNode, useSyncExternalStore } from "react";
import { useMessages } from "../../messages/messages.ts";
import { useConsole } from "../context.ts";
import { messages } from "../messages.ts";

/**
 * Says that the session has ended, and leaves what is on the screen as it is: nobody loses what was typed.
 */
export function SessionBanner(): ReactNode {
  const texts = useMessages(messages).ended;
  const { session, signInAgain } = useConsole();
  const hasEnded = useSyncExternalStore(session.onEnd, session.hasEnded);
  if (!hasEnded) return null;
  return (
    <Alert color="orange" variant="light" title={texts.title} role="alert" mb="md">
      <Group justify="space-between">
        <Text size="sm">{texts.text}</Text>
        <Button size="xs" onClick={signInAgain}>
          {texts.button}
        </Button>
      </Group>
    </Alert>
  );
}
