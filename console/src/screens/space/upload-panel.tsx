import { Button, Group, Paper, ScrollArea, Text } from "@mantine/core";
import { type ReactNode, useSyncExternalStore } from "react";
import { useConsole } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { type Upload, mayRetry } from "../../uploads/uploads.ts";
import { messages } from "./messages.ts";

/** Only so many are named; the line above counts all. */
const SHOWN = 50;

/** What is being uploaded to this space, and what could not be. */
export function UploadPanel({ spaceId }: { readonly spaceId: string }): ReactNode {
  const texts = useMessages(messages).uploads;
  const { uploads } = useConsole();
  const all = useSyncExternalStore(uploads.onChange, uploads.list).filter((each) => each.spaceId === spaceId);
  if (all.length === 0) return null;
  const done = all.filter(({ state }) => state === "accepted").length;
  const failed = all.filter(({ state }) => state === "failed");
  const isOver = done + failed.length === all.length;
  const shown = [...failed, ...all.filter(({ state }) => state === "sending" || state === "waiting")];
  return (
    <Paper withBorder p="xs" component="section" aria-label={texts.title}>
      <Group justify="space-between">
        <Text size="sm" role="status">
          {texts.progress(done, all.length)}
          {failed.length > 0 && ` · ${texts.failed(failed.length)}`}
        </Text>
        {isOver && (
          <Button size="compact-xs" variant="default" onClick={() => uploads.clear()}>
            {texts.clear}
          </Button>
        )}
      </Group>
      {shown.length > 0 && (
        <ScrollArea.Autosize mah={160} tabIndex={0}>
          {shown.slice(0, SHOWN).map((upload) => (
            <Row key={upload.id} upload={upload} onRetry={() => uploads.retry(upload.id)} />
          ))}
        </ScrollArea.Autosize>
      )}
    </Paper>
  );
}

function Row({ upload, onRetry }: { readonly upload: Upload; readonly onRetry: () => void }): ReactNode {
  const texts = useMessages(messages).uploads;
  const { name, path, state, error } = upload;
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between">
      <Text size="xs" miw={0}>
        <Bidi>{path === "" ? name : `${path}/${name}`}</Bidi>{" "}
        <Text span size="xs" c={state === "failed" ? "var(--mantine-color-error)" : "dimmed"}>
          {state === "failed" ? (error instanceof Error ? error.message : String(error)) : texts[state]}
        </Text>
      </Text>
      {state === "failed" && mayRetry(error) && (
        <Button size="compact-xs" variant="default" onClick={onRetry}>
          {texts.retry}
        </Button>
      )}
    </Group>
  );
}
