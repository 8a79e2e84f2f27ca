import type { Schemas } from "@holdfast/client";
import { Anchor, Code, Group, List, Stack, Table, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { keyOf } from "../../api/keys.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageControl } from "../../parts/lists/page-control.tsx";
import { StateBadge } from "../../parts/lists/state-badge.tsx";
import { WideTable } from "../../parts/lists/wide-table.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { messages } from "./messages.ts";
import { groupsOf } from "./rights.ts";

export type SpaceAccess = Schemas["SpaceAccess"];

interface Props {
  /** Whose access it is: an id. */
  readonly subject: string;
  readonly read: (query: {
    readonly page: number;
    readonly limit: number;
  }) => Promise<Schemas["SpaceAccessPage"]>;
  /** In the place of the role's name, where it can be changed. */
  readonly role?: (access: SpaceAccess) => ReactNode;
}

const PAGE_SIZE = 50;

/** What a person or a key can do in each space, and why: as the service's own policy decides it. */
export function AccessView({ subject, read, role }: Props): ReactNode {
  const texts = useMessages(messages);
  const [page, setPage] = useState(1);
  const access = useQuery({
    queryKey: keyOf("access", "of", subject, page),
    queryFn: () => read({ page, limit: PAGE_SIZE }),
    placeholderData: keepPreviousData,
  });
  return (
    <QueryView query={access}>
      {({ items, total_pages: total }) =>
        items.length === 0 ? (
          <Empty title={texts.none} text={texts.noneText} />
        ) : (
          <>
            <WideTable label={texts.label} columns={[texts.space, texts.role, texts.can, texts.why]}>
              {items.map((each) => (
                <Row key={each.space_id} access={each} role={role} />
              ))}
            </WideTable>
            <PageControl page={page} total={total} onChange={setPage} />
          </>
        )
      }
    </QueryView>
  );
}

interface RowProps {
  readonly access: SpaceAccess;
  readonly role: Props["role"];
}

function Row({ access, role }: RowProps): ReactNode {
  const texts = useMessages(messages);
  const { role: name } = access;
  return (
    <Table.Tr>
      <Table.Td>
        <SpaceName access={access} />
      </Table.Td>
      <Table.Td miw={110}>{role?.(access) ?? (name === null ? texts.noRole : texts.roles[name])}</Table.Td>
      <Table.Td>
        <Rights can={access.can} />
      </Table.Td>
      <Table.Td>
        <List size="sm">
          {access.because.map((reason) => (
            <List.Item key={reason}>{texts.because[reason]}</List.Item>
          ))}
        </List>
      </Table.Td>
    </Table.Tr>
  );
}

function SpaceName({ access }: { readonly access: SpaceAccess }): ReactNode {
  const texts = useMessages(messages);
  if (access.space_name === null) return <Text size="sm">{texts.hidden}</Text>;
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => <Link to="/spaces/$spaceId" params={{ spaceId: access.space_id }} {...props} />}
    >
      {access.is_private ? texts.own : <Bidi>{access.space_name}</Bidi>}
    </Anchor>
  );
}

/** In the words of people, and below as the service names each. */
function Rights({ can }: { readonly can: readonly string[] }): ReactNode {
  const texts = useMessages(messages);
  if (can.length === 0) return <StateBadge color="gray">{texts.nothing}</StateBadge>;
  return (
    <Stack gap={4}>
      <Group gap={4}>
        {groupsOf(can).map((group) => (
          <StateBadge key={group} color="indigo">
            {texts.groups[group]}
          </StateBadge>
        ))}
      </Group>
      <details>
        <Text component="summary" size="xs" c="dimmed" style={{ cursor: "pointer" }}>
          {texts.all(can.length)}
        </Text>
        <Group gap={4} mt={4}>
          {can.map((right) => (
            <Code key={right}>{right}</Code>
          ))}
        </Group>
      </details>
    </Stack>
  );
}
