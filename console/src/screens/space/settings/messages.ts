import { defineMessages } from "../../../messages/messages.ts";

export const messages = defineMessages(
  {
    title: "Space settings",
    name: "Name",
    rename: "Rename",
    renamed: "Renamed",
    changedMeanwhile: "Someone else renamed this space. This is its name now; you can change it again.",
    members: "Members",
    role: (name: string) => `Role of ${name}`,
    roles: { owner: "Owner", editor: "Editor", viewer: "Viewer" },
    rolesText: {
      owner: "Owners choose members and delete the space.",
      editor: "Editors upload, move and delete documents.",
      viewer: "Viewers read, search and chat.",
    },
    add: "Add",
    addMember: "Add a member",
    choose: "Choose a person",
    newRole: "Role",
    remove: (name: string) => `Remove ${name}`,
    onlyAdmins: "Only organization admins can list everyone. To add a person, enter their id.",
    userId: "User id",
    nobody: "No members.",
    privateText:
      "This is your private space. Only you can open it. It has no other members and cannot be deleted.",
    unknownLanguage:
      "The embedding model can barely distinguish the texts in this space, so searches rank by words. " +
      "The operator can set a different model (EMBEDDING_MODEL).",
    danger: "Delete this space",
    dangerText: "This also deletes its documents, folders, files and agents.",
    remove_space: "Delete space…",
    removeTitle: (name: string) => `Delete the space ${name}`,
    removeAction: "Delete space",
    close: "Close",
  },
  {
    title: "Einstellungen des Bereichs",
    name: "Name",
    rename: "Umbenennen",
    renamed: "Umbenannt",
    changedMeanwhile:
      "Jemand anderes hat ihn inzwischen umbenannt. So heißt er jetzt; ändern Sie ihn noch einmal, wenn Sie möchten.",
    members: "Mitglieder",
    role: (name) => `Rolle von ${name}`,
    roles: { owner: "Eigentümer", editor: "Bearbeiter", viewer: "Leser" },
    rolesText: {
      owner: "Eigentümer wählen Mitglieder und löschen den Bereich.",
      editor: "Bearbeiter laden hoch, verschieben und löschen.",
      viewer: "Leser lesen, suchen und fragen.",
    },
    add: "Aufnehmen",
    addMember: "Mitglied aufnehmen",
    choose: "Person wählen",
    newRole: "Rolle",
    remove: (name) => `${name} entfernen`,
    onlyAdmins:
      "Nur Admins der Organisation sehen alle darin. Geben Sie die Id der Person an, die Sie aufnehmen.",
    userId: "Id der Person",
    nobody: "Niemand ist Mitglied.",
    privateText: "Ihr privater Bereich: nur Sie erreichen ihn. Er hat keine Mitglieder, und er bleibt.",
    unknownLanguage:
      "Das Einbettungsmodell unterscheidet die Texte dieses Bereichs kaum: Suchen ordnen hier nach Wörtern. " +
      "Wer den Dienst betreibt, kann ein anderes Modell einstellen (EMBEDDING_MODEL).",
    danger: "Diesen Bereich löschen",
    dangerText: "Seine Dokumente, Ordner, Dateien und Agenten gehen mit.",
    remove_space: "Bereich löschen …",
    removeTitle: (name) => `Den Bereich ${name} löschen`,
    removeAction: "Bereich löschen",
    close: "Schließen",
  },
);
