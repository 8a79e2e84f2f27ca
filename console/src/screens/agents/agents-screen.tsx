import { Anchor, Badge, Button, Table, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { useHoldfast } from "../../app/context.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { Ago } from "../../parts/time.tsx";
import { messages } from "./messages.ts";
import { agentsQuery } from "./queries.ts";
import { useWritableSpaces } from "./writable-spaces.ts";

/** So long nobody types before it is asked. */
const PAUSE_MS = 200;

/** The agents that the person may use. */
export function AgentsScreen(): ReactNode {
  const texts = useMessages(messages);
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text.trim(), PAUSE_MS);
  const agents = useInfiniteQuery(agentsQuery(useHoldfast(), asked));
  const mayMake = (useWritableSpaces().data?.length ?? 0) > 0;
  const filter = useRef<HTMLInputElement>(null);
  const make = (): void => void navigate({ to: "/agents/$agentId", params: { agentId: "new" } });
  useShortcuts([
    { keys: "f", label: texts.focusFilter, run: () => filter.current?.focus() },
    ...(mayMake ? [{ keys: "n", label: texts.make, run: make }] : []),
  ]);
  const button = mayMake && <Button onClick={make}>{texts.make}</Button>;
  return (
    <>
      <PageHeader title={texts.title} text={texts.subtitle}>
        {button}
      </PageHeader>
      <TextInput
        ref={filter}
        type="search"
        aria-label={texts.filter}
        placeholder={texts.filter}
        maw={360}
        mb="md"
        maxLength={255}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <QueryView query={agents}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0)
            return asked === "" ? (
              <Empty title={texts.emptyTitle} text={texts.emptyText}>
                {button}
              </Empty>
            ) : (
              <Empty title={texts.noneTitle} text={texts.noneText} />
            );
          return (
            <>
              <List agents={items} />
              {agents.hasNextPage && (
                <Button
                  mt="md"
                  variant="default"
                  loading={agents.isFetchingNextPage}
                  onClick={() => void agents.fetchNextPage()}
                >
                  {texts.more}
                </Button>
              )}
            </>
          );
        }}
      </QueryView>
    </>
  );
}

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly space_id: string;
  readonly is_public: boolean;
  readonly agent_type: "simple" | "rag";
  readonly updated_at: string;
}

function List({ agents }: { readonly agents: readonly Entry[] }): ReactNode {
  const texts = useMessages(messages);
  const spaces = useQuery(spacesQuery(useHoldfast()));
  const spaceName = (id: string): string => {
    const space = spaces.data?.find((each) => each.id === id);
    if (space === undefined) return texts.otherSpace;
    return space.is_private ? texts.privateSpace : space.name;
  };
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {[texts.name, texts.space, texts.type, texts.changed].map((head) => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {agents.map((agent) => (
            <Table.Tr key={agent.id}>
              <Table.Td maw={360}>
                <Anchor
                  fw={600}
                  renderRoot={(props) => (
                    <Link to="/agents/$agentId" params={{ agentId: agent.id }} {...props} />
                  )}
                >
                  <Bidi>{agent.name}</Bidi>
                </Anchor>{" "}
                {agent.is_public && (
                  <Badge variant="default" tt="none">
                    {texts.isPublic}
                  </Badge>
                )}
                {agent.description !== "" && (
                  <div>
                    <Bidi>{agent.description}</Bidi>
                  </div>
                )}
              </Table.Td>
              <Table.Td>
                <Bidi>{spaceName(agent.space_id)}</Bidi>
              </Table.Td>
              <Table.Td>{texts.types[agent.agent_type]}</Table.Td>
              <Table.Td>
                <Ago at={agent.updated_at} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
