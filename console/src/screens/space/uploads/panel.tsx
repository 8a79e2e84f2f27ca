import { ActionIcon, Button, Group, Paper, Progress, ScrollArea, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { MOST_FILES } from "./dropped.ts";
import { messages } from "./messages.ts";
import type { Upload, Uploads } from "./queue.ts";
import type { useUploads } from "./use-uploads.ts";

/** What is being uploaded, how far it is, and what was refused and why. */
export function UploadPanel({ state }: { readonly state: ReturnType<typeof useUploads> }): ReactNode {
  const { uploads, view, preparation, isBusy, dismiss } = state;
  const texts = useMessages(messages).uploads;
  const formats = useFormats();
  if (view.total === 0 && preparation.step === "none" && preparation.skipped === 0) return null;
  const { counts, total, bytes, sentBytes, shown } = view;
  const close = (): void => {
    uploads.clear();
    dismiss();
  };
  const title = isBusy
    ? texts.running(formats.number(counts.done), formats.number(total - counts.cancelled))
    : texts.finished(counts.done);
  return (
    <Paper withBorder p="xs" component="section" aria-label={texts.title}>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" fw={600} role="status">
          {title}
          {counts.refused > 0 && ` · ${texts.failed(counts.refused)}`}
        </Text>
        {isBusy ? (
          <Button size="compact-xs" variant="default" onClick={() => uploads.cancel()}>
            {texts.cancelAll}
          </Button>
        ) : (
          <ActionIcon variant="subtle" color="gray" aria-label={texts.close} onClick={close}>
            <span aria-hidden>×</span>
          </ActionIcon>
        )}
      </Group>
      {isBusy && (
        <>
          <Progress
            mt={4}
            size="sm"
            value={bytes === 0 ? 0 : (sentBytes / bytes) * 100}
            aria-label={texts.progress}
          />
          <Text size="xs" c="dimmed">
            {texts.bytes(formats.bytes(sentBytes), formats.bytes(bytes))}
          </Text>
        </>
      )}
      {preparation.step === "reading" && <Text size="sm">{texts.reading}</Text>}
      {preparation.step === "folders" && <Text size="sm">{texts.folders}</Text>}
      {preparation.step === "too-many" && <Text size="sm">{texts.tooMany(formats.number(MOST_FILES))}</Text>}
      {preparation.step === "failed" && <ScreenError error={preparation.error} />}
      {preparation.skipped > 0 && <Text size="sm">{texts.skipped(preparation.skipped)}</Text>}
      <ScrollArea.Autosize mah={180} type="auto" mt={4}>
        <Stack gap={4} component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {shown
            .filter(({ state: now }) => now !== "done")
            .map((upload) => (
              <UploadRow key={upload.id} upload={upload} uploads={uploads} />
            ))}
        </Stack>
        {total - counts.done > shown.length && (
          <Text size="xs" c="dimmed">
            {texts.more(formats.number(total - counts.done - shown.length))}
          </Text>
        )}
      </ScrollArea.Autosize>
    </Paper>
  );
}

interface RowProps {
  readonly upload: Upload;
  readonly uploads: Uploads;
}

function UploadRow({ upload, uploads }: RowProps): ReactNode {
  const texts = useMessages(messages).uploads;
  const { id, name, folder, state, share } = upload;
  const isOpen = state === "waiting" || state === "sending" || state === "broken";
  const path = folder === "" ? name : `${folder}/${name}`;
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="flex-start">
      <Stack gap={0} flex={1} miw={0}>
        <Text size="sm" truncate title={path}>
          <Bidi>{path}</Bidi>
        </Text>
        {state === "sending" ? (
          <Progress size="xs" value={share * 100} aria-label={texts.ofFile(name)} maw={320} />
        ) : (
          <UploadNote upload={upload} />
        )}
      </Stack>
      {(!isOpen || state === "broken") && (
        <Button size="compact-xs" variant="default" onClick={() => uploads.retry(id)}>
          {state === "broken" ? texts.retryNow : texts.retry}
        </Button>
      )}
      {isOpen && (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-label={`${texts.cancel}: ${name}`}
          onClick={() => uploads.cancel(id)}
        >
          {texts.cancel}
        </Button>
      )}
    </Group>
  );
}

/** What an upload waits for, or why it was refused. */
function UploadNote({ upload: { state, error } }: Pick<RowProps, "upload">): ReactNode {
  const texts = useMessages(messages).uploads;
  const isFault = state === "refused" || state === "broken";
  const said = error instanceof Error ? `: ${error.message}` : "";
  const reason = error instanceof DOMException ? `: ${texts.unreadable}` : said;
  return (
    <Text size="xs" c={state === "refused" ? "var(--mantine-color-error)" : "dimmed"}>
      {texts[state]}
      {isFault && reason}
    </Text>
  );
}
