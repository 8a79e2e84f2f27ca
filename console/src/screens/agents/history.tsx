import { Button, Group, Stack, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "@holdfast/client";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { Empty } from "../../parts/empty.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { Ago } from "../../parts/time.tsx";
import { messages } from "./messages.ts";
import { historyQuery } from "./queries.ts";
import { Value, useFieldName } from "./value.tsx";

/** Who changed the agent, when, and what. */
export function History({ agentId }: { readonly agentId: string }): ReactNode {
  const texts = useMessages(messages);
  const history = useInfiniteQuery(historyQuery(useHoldfast(), agentId));
  return (
    <QueryView query={history}>
      {({ pages }) => {
        const changes = pages.flatMap((page) => page.items);
        if (changes.length === 0) return <Empty title={texts.history.none} />;
        return (
          <Stack component="ol" gap="lg" p={0} m={0} style={{ listStyle: "none" }}>
            {changes.map((change) => (
              <li key={`${change.version} ${change.at} ${change.action}`}>
                <Change change={change} />
              </li>
            ))}
            {history.hasNextPage && (
              <li>
                <Button
                  variant="default"
                  loading={history.isFetchingNextPage}
                  onClick={() => void history.fetchNextPage()}
                >
                  {texts.more}
                </Button>
              </li>
            )}
          </Stack>
        );
      }}
    </QueryView>
  );
}

function Change({ change }: { readonly change: Schemas["AgentChange"] }): ReactNode {
  const texts = useMessages(messages);
  const nameOf = useFieldName();
  const { by, action, version, at, changes } = change;
  return (
    <>
      <Group gap="xs">
        <Text fw={600} component="span">
          <Bidi>{by?.name ?? texts.history.somebody}</Bidi> {texts.history[action]}
        </Text>
        <Text size="sm" c="dimmed" component="span">
          {texts.version(version)} · <Ago at={at} />
        </Text>
      </Group>
      {changes.length > 0 && (
        <Table.ScrollContainer minWidth={480}>
          <Table layout="fixed" verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                {[texts.history.field, texts.history.before, texts.history.after].map((head) => (
                  <Table.Th key={head}>{head}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {changes.map(({ field, before, after }) => (
                <Table.Tr key={field} style={{ verticalAlign: "top" }}>
                  <Table.Th scope="row">{nameOf(field)}</Table.Th>
                  <Table.Td>
                    <Value value={before} />
                  </Table.Td>
                  <Table.Td>
                    <Value value={after} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </>
  );
}
