import { Anchor, Badge, Button, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { Ago } from "../../parts/time.tsx";
import { messages } from "./messages.ts";

const TYPING_MS = 200;
const SHOWN = 100;

/** The agents of the spaces that the person reaches, and the public ones. */
export function AgentsScreen(): ReactNode {
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text.trim(), TYPING_MS);
  const body = { order_by: ["name"], ...(asked === "" ? {} : { filters: { name__icontains: asked } }) };
  const agents = useQuery({
    queryKey: keyOf("agents", "list", asked),
    queryFn: () =>
      answerOf(holdfast.api.POST("/v1/agents/search", { params: { query: { limit: SHOWN } }, body })),
    placeholderData: keepPreviousData,
  });
  const { data: spaces = [] } = useQuery(spacesQuery(holdfast));
  const spaceName = (id: string): string => spaces.find((space) => space.id === id)?.name ?? "–";
  return (
    <>
      <PageHeader title={texts.title}>
        <Button renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId: "new" }} {...props} />}>
          {texts.new}
        </Button>
      </PageHeader>
      <TextInput
        label={texts.filter}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maw={360}
        mb="md"
      />
      <QueryView query={agents}>
        {({ items, total_items: total }) =>
          total === 0 ? (
            <Empty title={asked === "" ? texts.none : texts.noneFound} text={texts.noneText} />
          ) : (
            <Table.ScrollContainer minWidth={480}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{texts.name}</Table.Th>
                    <Table.Th>{texts.space}</Table.Th>
                    <Table.Th>{texts.type}</Table.Th>
                    <Table.Th>{texts.changed}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {items.map((agent) => (
                    <Table.Tr key={agent.id}>
                      <Table.Td>
                        <Anchor
                          renderRoot={(props) => (
                            <Link to="/agents/$agentId" params={{ agentId: agent.id }} {...props} />
                          )}
                        >
                          <Bidi>{agent.name}</Bidi>
                        </Anchor>{" "}
                        {agent.is_public && (
                          <Badge variant="outline" tt="none" c="inherit">
                            {texts.public}
                          </Badge>
                        )}
                        <Text size="xs" c="dimmed">
                          <Bidi>{agent.description}</Bidi>
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <Bidi>{spaceName(agent.space_id)}</Bidi>
                      </Table.Td>
                      <Table.Td>{agent.agent_type}</Table.Td>
                      <Table.Td>
                        <Ago at={agent.updated_at} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </QueryView>
    </>
  );
}
