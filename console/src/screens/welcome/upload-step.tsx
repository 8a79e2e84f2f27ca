import { Anchor, Button, Group, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useRef } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { nameOf } from "../space/documents.ts";
import { StageLine } from "../space/state/stage-line.tsx";
import { messages } from "./messages.ts";
import { Step } from "./step.tsx";

/** Uploads the sample or a file of one's own, and shows how it is processed. */
export function UploadStep({ spaceId }: { readonly spaceId: string }): ReactNode {
  const { upload: texts, sample } = useMessages(messages);
  const holdfast = useHoldfast();
  const field = useRef<HTMLInputElement>(null);
  const newest = useQuery({
    queryKey: keyOf("documents", "newest", spaceId),
    queryFn: ({ signal }) =>
      answerOf(
        holdfast.api.POST("/v1/data/search", {
          params: { query: { limit: 1 } },
          body: { filters: { space_id: spaceId } },
          signal,
        }),
      ),
  });
  const upload = useMutation({
    mutationFn: (file: File) => holdfast.upload({ file, filename: file.name, spaceId }),
    onSettled: () => newest.refetch(),
  });
  const document = newest.data?.items[0];
  const status = document?.processing_state.pipeline_status;
  return (
    <Step number={1} title={texts.title} text={texts.text} isDone={status === "completed"}>
      <Group gap="xs">
        <Button
          loading={upload.isPending}
          onClick={() => upload.mutate(new File([sample.text], sample.filename, { type: "text/markdown" }))}
        >
          {texts.sample}
        </Button>
        <Button variant="default" disabled={upload.isPending} onClick={() => field.current?.click()}>
          {texts.own}
        </Button>
        <input
          ref={field}
          type="file"
          hidden
          aria-label={texts.field}
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            if (file !== undefined) upload.mutate(file);
            currentTarget.value = "";
          }}
        />
      </Group>
      {upload.error !== null && <ScreenError error={upload.error} />}
      {newest.error !== null && <ScreenError error={newest.error} retry={() => void newest.refetch()} />}
      {document !== undefined && (
        <Group gap="sm" role="status">
          <Text size="sm">{texts.newest}</Text>
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/documents/$documentId" params={{ documentId: document.id }} {...props} />
            )}
          >
            <Bidi>{nameOf(document)}</Bidi>
          </Anchor>
          {status !== undefined && <StatusBadge status={status} />}
          <StageLine state={document.processing_state} />
        </Group>
      )}
    </Step>
  );
}
