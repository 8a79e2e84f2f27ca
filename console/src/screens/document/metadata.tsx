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
import { mergePatchOf } from "./merge-patch.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly document: Document;
  readonly etag: string | null;
  readonly mayWrite: boolean;
}

/** The service's own fields, which nobody changes. */
const OF_SERVICE = ["original_filename", "content_type", "extracted"];

/** What the file says of itself, such as title and author. */
const extractedOf = ({ doc_metadata: { extracted } }: Document): [string, unknown][] =>
  typeof extracted === "object" && extracted !== null ? Object.entries(extracted) : [];

const ownFields = (metadata: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => !OF_SERVICE.includes(key)));

const textOf = ({ doc_metadata: metadata }: Document): string => JSON.stringify(ownFields(metadata), null, 2);

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
    ...extractedOf(document).map(([name, value]): readonly [string, ReactNode] => [
      name,
      <Bidi key={name}>{typeof value === "string" ? value : JSON.stringify(value)}</Bidi>,
    ]),
  ];
  return (
    <Stack maw={720}>
      <Table>
        <Table.Tbody>
          {rows.map(([head, value], index) => (
            // A file's own names may be those of other rows.
            <Table.Tr key={`${index} ${head}`}>
              <Table.Th scope="row" w={140}>
                {head}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <OwnFields key={document.id} document={document} etag={etag} mayWrite={mayWrite} />
    </Stack>
  );
}

function OwnFields({ document, etag, mayWrite }: Props): ReactNode {
  const texts = useMessages(messages).metadata;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const now = textOf(document);
  // What is changed, and of which state of the document: another's change is not taken for one's own.
  const [begun, setBegun] = useState({ text: now, etag });
  const [text, setText] = useState(now);
  if (begun.text === now && begun.etag !== etag) setBegun({ text: now, etag });
  if (begun.text !== now && (text === begun.text || text === now)) {
    setBegun({ text: now, etag });
    setText(now);
  }
  const before = objectOf(begun.text) ?? {};
  const wanted = objectOf(text);
  const change = useMutation({
    mutationFn: (_sent: string) =>
      answerOf(
        api.PATCH("/v1/data/{document_id}", {
          params: {
            path: { document_id: document.id },
            ...(begun.etag === null ? {} : { header: { "If-Match": begun.etag } }),
          },
          body: { doc_metadata: mergePatchOf(before, wanted ?? {}) },
        }),
      ),
    async onSuccess(saved, sent) {
      await queries.invalidateQueries({ queryKey: ["documents"] });
      setText((typed) => (typed === sent ? textOf(saved) : typed));
    },
  });
  const problem = Object.values(fieldErrorsOf(change.error))[0];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(text);
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
          onChange={(event) => {
            change.reset();
            setText(event.currentTarget.value);
          }}
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
