import { Anchor, Button, Stack, Table, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { useHoldfast, useMe, useRoles } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageControl } from "../../parts/lists/page-control.tsx";
import { WideTable } from "../../parts/lists/wide-table.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { MyAccess } from "./my-access.tsx";
import { AddPerson } from "./add-person.tsx";
import { type Member, membersQuery } from "./members.ts";
import { MemberRole } from "./member-role.tsx";
import { messages } from "./messages.ts";
import { RemovePerson } from "./remove-person.tsx";

/** Admins manage the members; everybody else sees what they themselves can do. */
export function PeopleScreen(): ReactNode {
  const texts = useMessages(messages);
  const { isAdmin } = useRoles();
  if (isAdmin) return <Members />;
  return (
    <>
      <PageHeader title={texts.title} text={texts.othersText} />
      <MyAccess />
    </>
  );
}

function Members(): ReactNode {
  const texts = useMessages(messages);
  const { organization } = useMe();
  const [page, setPage] = useState(1);
  const [isNew, setIsNew] = useState(false);
  const members = useQuery(membersQuery(useHoldfast(), organization.id, page));
  useShortcuts([{ keys: "n", label: texts.keys.add, run: () => setIsNew(true) }]);
  return (
    <>
      <PageHeader title={texts.title} text={texts.text}>
        <Button onClick={() => setIsNew(true)}>{texts.add}</Button>
      </PageHeader>
      <QueryView query={members}>
        {({ items, total_pages: total }) => (
          <>
            <MemberTable members={items} />
            <PageControl page={page} total={total} onChange={setPage} />
          </>
        )}
      </QueryView>
      {isNew && <AddPerson onClose={() => setIsNew(false)} />}
    </>
  );
}

/** So many rows are shown at once. */
const ROWS = 50;

function MemberTable({ members }: { readonly members: readonly Member[] }): ReactNode {
  const texts = useMessages(messages);
  const [text, setText] = useState("");
  const [page, setPage] = useState(1);
  const input = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: "/", label: texts.keys.find, run: () => input.current?.focus() }]);
  const wanted = text.trim().toLowerCase();
  const found = members.filter(({ name, email }) => `${name} ${email}`.toLowerCase().includes(wanted));
  const shown = found.slice((page - 1) * ROWS, page * ROWS);
  return (
    <Stack>
      <TextInput
        ref={input}
        label={texts.find}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setPage(1);
        }}
        maw={360}
      />
      {shown.length === 0 ? (
        <Empty title={texts.empty} text={texts.emptyText} />
      ) : (
        <WideTable
          label={texts.title}
          columns={[texts.columns.name, texts.columns.role, texts.columns.since, ""]}
        >
          {shown.map((member) => (
            <MemberRow key={member.user_id} member={member} />
          ))}
        </WideTable>
      )}
      <PageControl page={page} total={Math.ceil(found.length / ROWS)} onChange={setPage} />
    </Stack>
  );
}

function MemberRow({ member }: { readonly member: Member }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const { id: myId } = useMe();
  const [isRemoving, setIsRemoving] = useState(false);
  const { user_id: userId, name, email, created_at: since } = member;
  return (
    <Table.Tr>
      <Table.Td miw={200}>
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/people/$userId" params={{ userId }} {...props} />}
        >
          <Bidi>{name}</Bidi>
        </Anchor>
        {userId === myId && ` (${texts.you})`}
        <Text size="xs" c="dimmed">
          <Bidi>{email}</Bidi>
        </Text>
      </Table.Td>
      <Table.Td>
        <MemberRole member={member} />
      </Table.Td>
      <Table.Td>{formats.date(since)}</Table.Td>
      <Table.Td ta="end">
        <Button
          size="compact-sm"
          variant="default"
          aria-label={texts.removeOf(name)}
          onClick={() => setIsRemoving(true)}
        >
          {texts.remove}
        </Button>
        {isRemoving && <RemovePerson member={member} onClose={() => setIsRemoving(false)} />}
      </Table.Td>
    </Table.Tr>
  );
}
