import { Alert, Anchor, Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { Document } from "@holdfast/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { answerOf } from "../../../api/client.ts";
import { keyOf } from "../../../api/keys.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { StatusBadge } from "../../../parts/status-badge.tsx";
import { Ago } from "../../../parts/time.tsx";
import { messages } from "./messages.ts";
import { StageLine } from "./stage-line.tsx";
import { textOf, waitTextOf } from "./code-texts.ts";
import { isUnderWay, nameOf } from "../documents.ts";

interface Props {
  /** As the list has it; it is read anew while the dialog is open. */
  readonly document: Document;
  readonly canWrite: boolean;
  readonly onReprocess: () => void;
  readonly onClose: () => void;
}

/** What a document does or waits for, since when, or why it failed and what to do. */
export function StateDialog({ document: given, canWrite, onReprocess, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const params = { path: { document_id: given.id } };
  const { data: document, error } = useQuery({
    queryKey: keyOf("documents", given.id, "state"),
    queryFn: ({ signal }) => answerOf(api.GET("/v1/data/{document_id}", { params, signal })),
    initialData: given,
    initialDataUpdatedAt: 0,
  });
  const { processing_state: state } = document;
  const runId = state.pipeline_run_id;
  const stop = useMutation({
    mutationFn: (id: string) =>
      answerOf(
        api.POST("/v1/data/runs/{pipeline_run_id}/cancel", { params: { path: { pipeline_run_id: id } } }),
      ),
  });
  const isEnded = state.pipeline_status === "failed" || state.pipeline_status === "cancelled";
  return (
    <Modal opened onClose={onClose} title={texts.state.title}>
      <Stack gap="sm">
        <Text fw={600}>
          <Bidi>{nameOf(document)}</Bidi>
        </Text>
        <Group gap="sm">
          {state.pipeline_status !== undefined && <StatusBadge status={state.pipeline_status} />}
          <StageLine state={state} />
        </Group>
        <Waiting document={document} />
        {isEnded && <Failure document={document} />}
        {state.pipeline_status === "completed" && (
          <Text size="sm">
            {(state.warnings?.length ?? 0) > 0
              ? texts.state.partly(state.warnings!.length)
              : texts.state.ready}
          </Text>
        )}
        {error !== null && <ScreenError error={error} />}
        {stop.error !== null && <ScreenError error={stop.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.state.close}
          </Button>
          {canWrite && isUnderWay(document) && runId !== undefined && (
            <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate(runId)}>
              {texts.state.stop}
            </Button>
          )}
          {canWrite && !isUnderWay(document) && <Button onClick={onReprocess}>{texts.state.again}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}

function Waiting({ document }: { readonly document: Document }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const waiting = document.processing_state.waiting_for ?? undefined;
  if (waiting === undefined)
    return isUnderWay(document) ? <Text size="sm">{texts.state.working}</Text> : null;
  return (
    <Alert color="yellow" variant="light">
      <Text size="sm">
        {texts.state.waits} {waitTextOf(texts.waiting, waiting.code)}, {texts.state.since}{" "}
        <Ago at={waiting.since} /> ({formats.time(waiting.since)}). {texts.state.attempts(waiting.attempts)}{" "}
        {typeof waiting.next_attempt_at === "string" &&
          texts.state.next(formats.time(waiting.next_attempt_at))}
      </Text>
      <Text size="sm" mt="xs">
        {texts.state.itself}
      </Text>
    </Alert>
  );
}

function Failure({ document }: { readonly document: Document }): ReactNode {
  const texts = useMessages(messages);
  const error = document.processing_state.error ?? undefined;
  if (error === undefined) return null;
  const stage = textOf(texts.state.stageNames, error.stage);
  const remedy = textOf(texts.remedies, error.code);
  return (
    <Alert color="red" variant="light" title={textOf(texts.failures, error.code) ?? error.message}>
      <Stack gap="xs">
        {stage !== undefined && <Text size="sm">{texts.state.failedIn(stage)}</Text>}
        {remedy !== undefined && (
          <Text size="sm">
            <Text span fw={600}>
              {texts.state.whatToDo}:
            </Text>{" "}
            {remedy}
          </Text>
        )}
        <Anchor c="inherit" size="sm" href={`/docs/errors/${error.code}`} target="_blank" underline="always">
          {texts.state.more}
        </Anchor>
      </Stack>
    </Alert>
  );
}
