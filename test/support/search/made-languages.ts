/**
 * What made collections are made of, by language: subjects and facts about them. `{s}` stands for the subject
 * as documents name it, `{a}` for the subject as questions do, in another form of its words, and `{n}` for a
 * number.
 */

interface Fact {
  readonly told: string;
  /** The first asks in other words, the others in other forms of the same ones. */
  readonly asked: readonly string[];
}

export interface MadeLanguage {
  /** The subject as documents name it, and as questions do. */
  readonly subjects: readonly (readonly [told: string, asked: string])[];
  /** Each is told of each subject in a document of its own. */
  readonly facts: readonly Fact[];
  /** The paragraphs of a long document: the first names the subject, no other does. */
  readonly paragraphs: readonly string[];
  /** Told at the end of long documents without their subject, in the same words in each. */
  readonly late: readonly Fact[];
}

export const ENGLISH: MadeLanguage = {
  subjects: [
    ["harbour ferry", "ferries of harbours"],
    ["weaving mill", "mills that weave"],
    ["printing shop", "shops that print"],
    ["mountain railway", "railways in mountains"],
    ["glass furnace", "furnaces for glasses"],
    ["bottling plant", "plants that bottle"],
    ["sailing school", "schools where one sails"],
    ["cheese cellar", "cellars with cheeses"],
    ["brewing house", "houses that brew"],
    ["puppet theatre", "theatres with puppets"],
    ["bell foundry", "foundries of bells"],
    ["bicycle garage", "garages for bicycles"],
    ["seed archive", "archives of seeds"],
  ],
  facts: [
    {
      told: "The {s} opens at {n} o'clock on weekdays.",
      asked: ["At which hour can one first get into {a}?", "On a weekday, what time are the {a} opened?"],
    },
    {
      told: "A ticket for the {s} costs {n} crowns.",
      asked: ["What must visitors pay for {a}?", "Costing of tickets for {a}"],
    },
    {
      told: "A blaze destroyed one part of the {s} about {n} years ago.",
      asked: ["Was there ever a fire in {a}?", "Which blazes were destroying parts of {a}?"],
    },
    {
      told: "The {s} draws its electricity from a turbine in the stream.",
      asked: ["Where does the power for {a} come from?", "Streams and turbines for {a}"],
    },
    {
      told: "All winter the {s} employs {n} workers.",
      asked: ["How many people have a job in the cold season at {a}?", "Which worker is employed by {a}?"],
    },
    {
      told: "Neighbours complain that the {s} is too loud in the evening.",
      asked: ["Is noise from {a} a nuisance nearby?", "Loudness of {a}: has a neighbour complained?"],
    },
    {
      told: "The {s} won a prize for its careful restoration.",
      asked: [
        "Which honour was given to {a} for repairing them well?",
        "Prizes winning {a} with restorations",
      ],
    },
    {
      told: "Flood water stood {n} centimetres high in the {s} last March.",
      asked: ["Did the river ever overflow into {a} in spring?", "Floods standing high in {a}"],
    },
  ],
  paragraphs: [
    "The {s} was founded by a family of merchants who had come down the valley with two carts and a loan. " +
      "Nobody in the town expected it to outlast their children, and yet it did.",
    "Over the decades the roof was replaced twice, the yard was paved, and a row of lime trees was planted " +
      "along the road so that the carriages of guests could wait in the shade.",
    "Letters from that time speak of long evenings, of songs, and of a dog that knew every customer. They " +
      "are kept in a tin box, which the present owners show to those who ask for it.",
  ],
  late: [
    {
      told:
        "Behind an old wall lies a cistern, and engineers measured a depth of {n} metres there when the " +
        "pavement had to be renewed for the third time in a hundred years.",
      asked: ["How deep is the cistern measured at {a}?", "Cisterns behind walls at {a}"],
    },
    {
      told:
        "In the attic an inventory was discovered with {n} copper kettles on it, none of which has been " +
        "seen by anybody since the second of the two roofs was built.",
      asked: ["Which inventories of kettles did {a} discover?", "How many copper vessels are listed in {a}?"],
    },
  ],
};

export const GERMAN: MadeLanguage = {
  subjects: [
    ["Weberei", "Webereien"],
    ["Fähre", "Fähren"],
    ["Glashütte", "Glashütten"],
    ["Druckerei", "Druckereien"],
    ["Bergbahn", "Bergbahnen"],
    ["Käserei", "Käsereien"],
    ["Brauerei", "Brauereien"],
    ["Gießerei", "Gießereien"],
    ["Sternwarte", "Sternwarten"],
    ["Mühle", "Mühlen"],
  ],
  facts: [
    {
      told: "Die {s} öffnet werktags um {n} Uhr.",
      asked: ["Ab wann kommt man in die {a} hinein?", "Wann werden die {a} am Werktag geöffnet?"],
    },
    {
      told: "Der Eintritt in die {s} kostet {n} Kronen.",
      asked: ["Was zahlen Besucher für die {a}?", "Welche Eintritte und Kosten haben die {a}?"],
    },
    {
      told: "Vor {n} Jahren zerstörte ein Brand einen Teil der {s}.",
      asked: ["Gab es in den {a} je ein Feuer?", "Welche Brände zerstörten Teile der {a}?"],
    },
    {
      told: "Im Winter beschäftigt die {s} {n} Arbeiter.",
      asked: ["Wie viele Stellen bieten die {a} bei Kälte?", "Wer beschäftigte Arbeitern in {a} im Winter?"],
    },
  ],
  paragraphs: [
    "Die {s} wurde von einer Familie von Kaufleuten gegründet, die mit zwei Karren und einem Kredit ins " +
      "Tal gekommen war. Niemand in der Stadt glaubte, dass sie die Kinder überdauern würde.",
    "Später wurde das Dach zweimal erneuert, der Hof gepflastert und eine Reihe Linden an die Straße " +
      "gesetzt, damit die Wagen der Gäste im Schatten warten konnten.",
  ],
  late: [
    {
      told: "Hinter einer alten Mauer liegt ein Brunnen; Ingenieure maßen dort eine Tiefe von {n} Metern.",
      asked: ["Wie viele Meter misst der Brunnen bei den {a}?", "Gibt es Brunnen hinter Mauern der {a}?"],
    },
  ],
};

export const ARABIC: MadeLanguage = {
  subjects: [
    ["المطبعة", "للمطبعات"],
    ["المحطة", "للمحطات"],
    ["العبارة", "للعبارات"],
    ["المكتبة", "للمكتبات"],
    ["المزرعة", "للمزرعات"],
    ["الورشة", "للورشات"],
    ["المدرسة", "للمدرسات"],
    ["الحديقة", "للحديقات"],
    ["المعصرة", "للمعصرات"],
    ["المخبزة", "للمخبزات"],
  ],
  facts: [
    {
      told: "تفتح {s} أبوابها في الساعة {n} كل صباح.",
      asked: ["متى يمكن الدخول صباحا {a}؟", "هل من ساعات فتحت فيها أبواب {a}؟"],
    },
    {
      told: "ثمن التذكرة في {s} {n} دينارا.",
      asked: ["كم يدفع الزائر {a}؟", "كم ثمنها تذكرة الدخول {a}؟"],
    },
    {
      told: "دمر حريق كبير جزءا من {s} قبل {n} سنوات.",
      asked: ["هل شبت النار في السابق {a}؟", "أي حريق دمرت به الأجزاء الكبيرة {a}؟"],
    },
    {
      told: "توظف {s} {n} عاملا في الشتاء.",
      asked: ["كم فرصة عمل في البرد {a}؟", "كم من العاملين توظفهم شتاء {a}؟"],
    },
  ],
  paragraphs: [
    "أسست {s} عائلة من التجار جاءت إلى الوادي ومعها عربتان وقرض صغير، " +
      "ولم يتوقع أحد في البلدة أن تدوم بعد أولادهم.",
    "وبعد ذلك جدد السقف مرتين ورصف الفناء وزرعت أشجار على طول الطريق لتنتظر عربات الضيوف في الظل.",
  ],
  late: [
    {
      told: "خلف الجدار القديم بئر قاس المهندسون عمقها فبلغ {n} مترا.",
      asked: ["ما عمق البئر خلف الجدار {a}؟", "كم مترا بلغت بئر قديمة {a}؟"],
    },
  ],
};

export const RUSSIAN: MadeLanguage = {
  subjects: [
    ["Ткацкая фабрика", "ткацких фабрик"],
    ["Паромная переправа", "паромных переправ"],
    ["Стекольная мастерская", "стекольных мастерских"],
    ["Горная дорога", "горных дорог"],
    ["Сырная лавка", "сырных лавок"],
    ["Литейная фабрика", "литейных фабрик"],
    ["Типография", "типографий"],
    ["Обсерватория", "обсерваторий"],
    ["Водяная мельница", "водяных мельниц"],
    ["Часовая мастерская", "часовых мастерских"],
  ],
  facts: [
    {
      told: "{s} открывается в {n} часов по будням.",
      asked: ["С какого времени пускают людей в двери {a}?", "Каким будним днём открываются залы {a}?"],
    },
    {
      told: "{s} продаёт билет за {n} крон.",
      asked: ["Сколько платят посетители {a}?", "Почём кассы {a} продают билеты?"],
    },
    {
      told: "{s} потеряла при пожаре часть здания {n} лет назад.",
      asked: ["Горели ли когда-нибудь помещения {a}?", "Какие здания {a} потеряны при пожарах?"],
    },
    {
      told: "{s} зимой нанимает {n} рабочих.",
      asked: ["Сколько людей трудится в холода среди {a}?", "Какого рабочего наняли на зиму для {a}?"],
    },
  ],
  paragraphs: [
    "{s} основана семьёй купцов, которая пришла в долину с двумя телегами и долгом. Никто в городе " +
      "не верил, что дело переживёт их детей, но так и вышло.",
    "Потом дважды меняли крышу, мостили двор и сажали липы вдоль улицы, чтобы экипажи гостей ждали в тени.",
  ],
  late: [
    {
      told: "За старой стеной есть колодец, и инженеры измерили его глубину: {n} метров.",
      asked: ["Какой глубины колодцы возле {a}?", "Что за стенами {a} измеряли инженеры?"],
    },
  ],
};

export const CHINESE: MadeLanguage = {
  subjects: [
    ["织布厂", "织布的工厂"],
    ["玻璃厂", "玻璃的工厂"],
    ["渡船码头", "渡船的码头"],
    ["登山铁路", "登山的铁路"],
    ["印刷作坊", "印刷的作坊"],
    ["奶酪地窖", "奶酪的地窖"],
    ["酿酒作坊", "酿酒的作坊"],
    ["铸钟厂", "铸钟的工厂"],
    ["天文台", "天文的台站"],
    ["水磨坊", "水磨的作坊"],
  ],
  facts: [
    {
      told: "{s}平日上午{n}点开门。",
      asked: ["人们几点可以进入{a}？", "平日里{a}在上午什么时候开门？"],
    },
    {
      told: "{s}的门票价格是{n}克朗。",
      asked: ["参观{a}要付多少钱？", "{a}的门票是什么价格？"],
    },
    {
      told: "{n}年前一场火灾烧毁了{s}的一部分。",
      asked: ["{a}曾经失火吗？", "哪场火灾烧毁过{a}？"],
    },
    {
      told: "{s}冬天雇用{n}名工人。",
      asked: ["天冷时{a}有多少工作岗位？", "{a}在冬天雇用多少工人？"],
    },
  ],
  paragraphs: [
    "{s}由一个商人家庭创立，他们带着两辆马车和一笔借款来到山谷，镇上没有人相信这份产业会比他们的孩子更长久。",
    "后来屋顶换过两次，院子铺上了石头，路边种了一排椴树，客人的马车可以在树荫下等候，人们常常在那里唱歌到深夜。",
  ],
  late: [
    {
      told: "旧墙后面有一口水井，工程师测量的深度是{n}米。",
      asked: ["{a}的水井有多少深度？", "工程师在{a}的旧墙后面测量了什么？"],
    },
  ],
};
