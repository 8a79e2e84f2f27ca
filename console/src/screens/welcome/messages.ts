import { defineMessages } from "../../messages/messages.ts";

export const messages = defineMessages(
  {
    title: "Getting started",
    text: "Upload a document, search it, ask a question about it, and create an API key.",
    privateSpace: "My documents",
    step: (n: number, title: string) => `${n}. ${title}`,
    space: "Space",
    noSpace:
      "You cannot upload anywhere yet. Create a space next to “Spaces”, or ask an owner to make you an editor.",
    done: "Done",
    upload: {
      title: "Upload a document",
      text: "It is parsed, chunked and embedded. You can watch each step.",
      sample: "Upload the sample",
      own: "Choose a file…",
      field: "File to upload",
      newest: "The newest document of this space:",
    },
    search: {
      title: "Search it",
      text: "Search finds passages by their meaning and by their words.",
      query: "Search for",
      button: "Search",
      nothing: "No results. Search finds a document once it is ready.",
      all: "Go to search",
    },
    ask: {
      title: "Ask a question",
      text: "An agent searches for you and answers with its sources.",
      question: "Question",
      button: "Ask",
      agent: "Agent",
      make: "Create an agent",
      makeText: "This space has no agent yet.",
      agentName: "Assistant",
      prompt: "Answer from the documents. Say so if they do not contain the answer.",
      sources: "Sources",
      all: "Go to chat",
    },
    key: {
      title: "Create an API key",
      text: "Programs use a key to act for you, within the spaces and permissions you choose.",
      name: "Key name",
      suggested: "first-key",
      button: "Create key",
      once: "The key is shown only once. Copy it now.",
      copy: "Copy key",
      copyCurl: "Copy command",
      try: "Try it:",
      all: "Go to API keys",
    },
    toSpace: "Go to documents",
    sample: {
      filename: "meridian-4-manual.md",
      question: "How often must a flow meter be calibrated when it is used for billing?",
      text: `# Meridian 4 flow meter: manual

The Meridian 4 measures the flow of clean liquids by ultrasound. It has no moving parts.

## Mounting

Mount the meter where the pipe is always full: best in a rising pipe. Keep a straight run of ten diameters before
the meter and of five diameters behind it. Behind a pump keep twenty diameters.

## First start

1. Fill the pipe and let the air out.
2. Connect the supply. The lamp blinks yellow for up to 40 seconds while the meter looks for a signal.
3. With the valve closed, hold the key for five seconds. The meter takes the zero point; the lamp turns green.

## Calibration

Calibrate every four years, or every two years where the meter is used for billing. Acme does so within six working
days; a loan meter can be had for that time.
`,
    },
  },
  {
    title: "Die ersten Minuten",
    text: "Laden Sie ein Dokument hoch, durchsuchen Sie es, fragen Sie danach, und legen Sie einen Schlüssel für Ihr Programm an.",
    privateSpace: "Meine Dokumente",
    step: (n, title) => `${n}. ${title}`,
    space: "Bereich",
    noSpace:
      "Noch dürfen Sie nirgends hochladen. Legen Sie neben „Bereiche“ einen an, oder bitten Sie um Aufnahme als Bearbeiter.",
    done: "Erledigt",
    upload: {
      title: "Ein Dokument hochladen",
      text: "Es wird gelesen, zerlegt und eingebettet. Sie sehen jeden Schritt, während er geschieht.",
      sample: "Das Beispiel hochladen",
      own: "Datei wählen …",
      field: "Datei zum Hochladen",
      newest: "Das neueste Dokument dieses Bereichs:",
    },
    search: {
      title: "Es durchsuchen",
      text: "Die Suche findet Stellen nach ihrer Bedeutung und nach ihren Wörtern.",
      query: "Wonach gesucht wird",
      button: "Suchen",
      nothing: "Nichts gefunden. Ein Dokument wird gefunden, sobald es bereit ist.",
      all: "Zum Suchlabor",
    },
    ask: {
      title: "Eine Frage stellen",
      text: "Ein Agent sucht für Sie und antwortet mit seinen Quellen.",
      question: "Frage",
      button: "Fragen",
      agent: "Agent",
      make: "Einen Agenten anlegen",
      makeText: "Dieser Bereich hat noch keinen Agenten.",
      agentName: "Assistent",
      prompt: "Antworte aus den Dokumenten. Sage es, wenn sie die Antwort nicht enthalten.",
      sources: "Quellen",
      all: "Zum Chat",
    },
    key: {
      title: "Einen Schlüssel für Ihr Programm anlegen",
      text: "Ein Schlüssel handelt für Sie, in den Bereichen und zu den Zwecken, für die er angelegt ist.",
      name: "Name des Schlüssels",
      suggested: "erster-schluessel",
      button: "Schlüssel anlegen",
      once: "Der Schlüssel wird nur dieses eine Mal gezeigt. Kopieren Sie ihn jetzt.",
      copy: "Schlüssel kopieren",
      copyCurl: "Befehl kopieren",
      try: "Probieren Sie ihn aus:",
      all: "Zu den API-Schlüsseln",
    },
    toSpace: "Zu den Dokumenten",
    sample: {
      filename: "meridian-4-handbuch.md",
      question: "Wie oft muss ein Durchflussmesser kalibriert werden, der zur Abrechnung dient?",
      text: `# Durchflussmesser Meridian 4: Handbuch

Der Meridian 4 misst den Durchfluss sauberer Flüssigkeiten mit Ultraschall. Er hat keine beweglichen Teile.

## Einbau

Bauen Sie ihn dort ein, wo das Rohr immer voll ist, am besten in ein steigendes Rohr. Davor bleiben zehn, dahinter
fünf Durchmesser gerade Strecke, hinter einer Pumpe zwanzig.

## Erster Start

1. Füllen Sie das Rohr, und lassen Sie die Luft ab.
2. Schließen Sie die Versorgung an. Die Lampe blinkt bis zu 40 Sekunden gelb, während ein Signal gesucht wird.
3. Halten Sie bei geschlossenem Ventil die Taste fünf Sekunden. Der Nullpunkt wird genommen; die Lampe wird grün.

## Kalibrierung

Kalibrieren Sie alle vier Jahre, oder alle zwei Jahre, wo der Durchflussmesser zur Abrechnung dient. Acme tut das in
sechs Werktagen; so lange gibt es ein Leihgerät.
`,
    },
  },
);
