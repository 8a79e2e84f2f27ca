import { Button, Group, Stack, Table, Text, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../api/client.ts";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { type Document, nameOf } from "../space/documents.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly document: Document;
  readonly etag: string | null;
  readonly mayWrite: boolean;
}

/** The service's own fields, which nobody changes. */
const OF_SERVICE = ["original_filename", "content_type"];

const ownFields = (metadata: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => !OF_SERVICE.includes(key)));

export function Metadata({ document, etag, mayWrite }: Props): ReactNode {
  const texts = useMessages(messages).metadata;
  const formats = useFormats();
  const rows: ReadonlyArray<readonly [string, ReactNode]> = [
    [texts.file, <Bidi key="name">{nameOf(document)}</Bidi>],
    [texts.type, document.file_type],
    [texts.size, formats.bytes(document.file_size)],
    [texts.added, formats.time(document.created_at)],
    [texts.changed, formats.time(document.updated_at)],
    [texts.folder, document.folder_path === null ? "–" : <Bidi key="folder">{document.folder_path}</Bidi>],
    [texts.id, document.id],
  ];
  return (
    <Stack maw={720}>
      <Table>
        <Table.Tbody>
          {rows.map(([head, value]) => (
            <Table.Tr key={head}>
              <Table.Th scope="row" w={140}>
                {head}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <OwnFields key={document.updated_at} document={document} etag={etag} mayWrite={mayWrite} />
    </Stack>
  );
}

function OwnFields({ document, etag, mayWrite }: Props): ReactNode {
  const texts = useMessages(messages).metadata;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const before = ownFields(document.doc_metadata);
  const [text, setText] = useState(() => JSON.stringify(before, null, 2));
  const wanted = objectOf(text);
  const change = useMutation({
    mutationFn: () => {
      // A merge patch: what is not there any more is null.
      const removed = Object.fromEntries(Object.keys(before).map((key) => [key, null]));
      return answerOf(
        api.PATCH("/v1/data/{document_id}", {
          params: {
            path: { document_id: document.id },
            ...(etag === null ? {} : { header: { "If-Match": etag } }),
          },
          body: { doc_metadata: { ...removed, ...wanted } },
        }),
      );
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["documents"] }),
  });
  const problem = Object.values(fieldErrorsOf(change.error))[0];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <Stack gap="xs">
        <Textarea
          label={texts.own}
          description={texts.ownHint}
          autosize
          minRows={3}
          maxRows={24}
          ff="monospace"
          value={text}
          readOnly={!mayWrite}
          onChange={(event) => setText(event.currentTarget.value)}
          error={wanted === undefined ? texts.notJson : problem}
        />
        {change.error !== null && problem === undefined && <ScreenError error={change.error} />}
        {mayWrite && (
          <Group>
            <Button type="submit" disabled={wanted === undefined} loading={change.isPending}>
              {texts.save}
            </Button>
            {change.isSuccess && (
              <Text size="sm" role="status">
                {texts.saved}
              </Text>
            )}
          </Group>
        )}
      </Stack>
    </form>
  );
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
