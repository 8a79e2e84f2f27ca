import { Badge, Button, Table } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { messages } from "./messages.ts";
import { versionsQuery } from "./queries.ts";
import { VersionDiff } from "./version-diff.tsx";
import "./content.css";

interface Props {
  readonly documentId: string;
  readonly mayRestore: boolean;
}

export function Versions({ documentId, mayRestore }: Props): ReactNode {
  const { versions: texts, diff } = useMessages(messages);
  const [isComparing, setIsComparing] = useState(false);
  const formats = useFormats();
  const holdfast = useHoldfast();
  const queries = useQueryClient();
  const versions = useQuery(versionsQuery(holdfast, documentId));
  const restore = useMutation({
    mutationFn: (version: number) =>
      answerOf(
        holdfast.api.POST("/v1/data/{document_id}/versions/{version}/restore", {
          params: { path: { document_id: documentId, version } },
        }),
      ),
    async onSuccess() {
      notifications.show({ message: texts.restored, color: "green" });
      await queries.invalidateQueries({ queryKey: ["documents"] });
      await queries.invalidateQueries({ queryKey: ["runs"] });
    },
  });
  return (
    <QueryView query={versions}>
      {({ items }) => {
        const current = items.find(({ is_current: isCurrent }) => isCurrent)?.version;
        const before = Math.max(
          ...items
            .filter(({ status, version }) => status === "completed" && version < (current ?? 0))
            .map(({ version }) => version),
        );
        return (
          <>
            {current !== undefined && before > 0 && (
              <Button variant="default" mb="sm" onClick={() => setIsComparing(true)}>
                {diff.show}
              </Button>
            )}
            {isComparing && current !== undefined && (
              <VersionDiff
                documentId={documentId}
                before={before}
                after={current}
                onClose={() => setIsComparing(false)}
              />
            )}
            {restore.error !== null && <ScreenError error={restore.error} />}
            <Table.ScrollContainer minWidth={560}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    {[texts.number, texts.state, texts.trigger, texts.by, texts.at, texts.chunks].map(
                      (head) => (
                        <Table.Th key={head}>{head}</Table.Th>
                      ),
                    )}
                    {mayRestore && <Table.Td />}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {items.map((each) => (
                    <Table.Tr key={each.version}>
                      <Table.Td>
                        {each.version}{" "}
                        {each.is_current && (
                          <Badge variant="outline" tt="none">
                            {texts.current}
                          </Badge>
                        )}
                      </Table.Td>
                      <Table.Td>
                        <StatusBadge status={each.status} />
                      </Table.Td>
                      <Table.Td>{texts.triggers[each.trigger]}</Table.Td>
                      <Table.Td>{each.created_by !== null && <Bidi>{each.created_by.name}</Bidi>}</Table.Td>
                      <Table.Td>{formats.time(each.created_at)}</Table.Td>
                      <Table.Td>{each.chunk_count}</Table.Td>
                      {mayRestore && (
                        <Table.Td>
                          {each.version === before && (
                            <Button
                              size="compact-sm"
                              variant="default"
                              onClick={() => restore.mutate(each.version)}
                            >
                              {texts.restore}
                            </Button>
                          )}
                        </Table.Td>
                      )}
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </>
        );
      }}
    </QueryView>
  );
}
