import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { ConnectionError, HoldfastError } from "@holdfast/client";
import type { ReactNode } from "react";
import { isForbidden, isNotFound } from "../api/client.ts";
import { useMessages } from "../messages/messages.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly error: unknown;
  /** Offers to try again. */
  readonly retry?: () => void;
  /** The router's name of the same. */
  readonly reset?: () => void;
}

/**
 * A refusal or a fault where the content would be: what is wrong, what to do, and the page that explains it.
 */
export function ScreenError({ error, retry, reset }: Props): ReactNode {
  const texts = useMessages(messages);
  const again = retry ?? reset;
  const refusal = error instanceof HoldfastError ? error : undefined;
  return (
    <Alert color="red" variant="light" title={titleOf(error, texts)} role="alert" my="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{textOf(error, texts)}</Text>
        <Group gap="md">
          {again !== undefined && (
            <Button size="xs" variant="default" onClick={again}>
              {texts.retry}
            </Button>
          )}
          {refusal?.docUrl !== undefined && (
            <Anchor size="sm" href={new URL(refusal.docUrl).pathname} target="_blank" underline="always">
              {texts.help}
            </Anchor>
          )}
          {refusal?.requestId !== undefined && (
            <Text size="xs" c="dimmed">
              {texts.requestId(refusal.requestId)}
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

type Texts = ReturnType<typeof useMessages<typeof messages.en>>;

function titleOf(error: unknown, texts: Texts): string {
  if (isNotFound(error)) return texts.notFound;
  return isForbidden(error) ? texts.forbidden : texts.failed;
}

function textOf(error: unknown, texts: Texts): string {
  if (error instanceof ConnectionError || error instanceof TypeError) return texts.noConnection;
  if (isNotFound(error)) return texts.notFoundText;
  return error instanceof Error ? error.message : String(error);
}
