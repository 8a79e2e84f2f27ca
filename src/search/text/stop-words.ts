/** Function words by language: they show a text's language, and a query is searched without them. */

/** Words between white space, by ISO 639-1 code, in lower case: the last four in Cyrillic, else Latin. */
export const STOP_WORDS: Readonly<Record<string, string>> = {
  en: `
    a about above after again against all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has have
    having he her here hers herself him himself his how i if in into is it its itself just me more most my
    myself no nor not of off on once only or other our ours out over own same she should so some such than
    that the their theirs them themselves then there these they this those through to too under until up
    very was we were what when where which while who whom whose why will with would you your yours`,
  de: `
    aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da
    damit dann das dass daß dein deine dem den denn der des dessen die dies diese diesem diesen dieser
    dieses doch dort du durch ein eine einem einen einer eines er es etwas euch für gegen gewesen hab habe
    haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist jede
    jedem jeden jeder jedes jetzt kann kein keine können könnte man mehr mein meine mich mir mit muss nach
    nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so solche
    soll sollte sondern sowie über um und uns unser unter viel viele vom von vor während war waren warum was
    weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wo wurde
    wurden würde zu zum zur zwischen beide beiden bereits dabei davon dazu eigentlich etwa gab gibt jedoch
    mehrere statt wann wem wen wessen wobei wodurch wofür woher wohin womit woran worin worum wovon wozu
    wieviel wieviele`,
  fr: `
    à au aux avec ce ces cet cette ceux chez comme comment combien d dans de des donc dont du elle elles en
    encore entre est et été être étaient était fait il ils j je l la le les leur leurs lors lui m ma mais me
    même mes moi mon n ne nos notre nous on ont ou où par pas pendant peut plus pour pourquoi qu quand que
    quel quelle quelles quels qui s sa sans se ses si son sont sous sur t ta te tes toi ton tous tout toute
    toutes très tu un une vos votre vous y`,
  es: `
    a al algo ante antes aquel aunque bajo como cómo con contra cuál cuáles cuál cuándo cuando cuánto
    cuántos cuántas de del desde dónde donde durante e el él ella ellas ellos en entre era eran es esa ese
    eso esta está están estas este esto estos fue fueron ha había hacia han hasta hay la las le les lo los
    más me mi mientras muy ni no nos nosotros o os otra otro otros para pero poco por porque pues que qué
    quién quiénes se según ser si sí sin sobre son su sus también te tiene tienen todo todos tu tus un una
    uno unos y ya yo`,
  pt: `
    a ao aos aquela aquele as às até com como da das de dela dele deles depois do dos durante e é ela elas
    ele eles em entre era eram essa esse esta está estão este eu foi foram há isso isto já lhe mais mas me
    mesmo meu minha muito na não nas nem no nos nós num numa o onde os ou para pela pelas pelo pelos por
    porque qual quais quando quantas quantos que quem são se sem ser seu seus só sobre sua suas também te
    tem têm teve um uma umas uns você vocês`,
  it: `
    a ad agli ai al alla alle allo anche c che chi ci come con contro cosa cui d da dagli dai dal dalla
    dalle dallo degli dei del della delle dello di dopo dove e è ed egli era erano essere fra fu furono gli
    ha hanno i il in io l la le lei li lo loro lui ma mentre mi mia mio molto ne negli nei nel nella nelle
    nello no noi non nostro o ogni per perché più poi prima qual quale quali quando quanti quanto quella
    quello questa queste questi questo se sé senza si sia sono sta stata stato su sua sue sugli sui sul
    sulla sulle suo suoi tra tu tutti tutto un una uno voi`,
  nl: `
    aan al alle als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er
    ge geen geweest haar had heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je
    kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op
    over reeds te tegen toch toen tot tussen u uit uw van veel voor waar waarom want waren was wat welke
    werd werden wezen wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou`,
  sv: `
    alla allt att av blev bli blir de dem den denna deras dess dessa det detta dig din du då där efter ej
    eller en er ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag
    kan kunde man med mellan men mig min mot mycket många ni nu när någon något några och om oss på samma
    sedan sig sin sina sitta själv skulle som så sådan till under upp ut utan vad var vara varför varit vem
    vi vid vilka vilken vilket än är åt över`,
  da: `
    ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du
    efter eller en end er et for fra ham han hans har havde have hende hendes her hvad hvem hver hvilke
    hvilken hvis hvor hvorfor hvornår i ikke ind jeg jer kan kunne man mange med meget men mig min mod mens
    mellem når nogen noget nogle nu og også om op os over på sådan selv sig sin skal skulle som thi til ud
    under var vi vil ville være været`,
  no: `
    alle at av bare begge ble blei bli blir både da de deg dem den denne der dere deres det dette din disse
    du eller en enn er et ett etter for fordi fra før ha hadde han hans har hennes her hun hva hvem hver
    hvilke hvilken hvis hvor hvordan hvorfor i ikke ingen inn ja jeg kan kom kunne man mange med meg mellom
    men mer min mot mye når noe noen nå og også om opp oss over på samme seg selv sin skal skulle slik som
    så til ut uten var vi ved vil ville være vært å`,
  fi: `
    ei eivät emme en enemmän eräs että he hän häneen hänen hänet häntä ja jo johon joka jolla jonka joissa
    jossa josta jota jotka jos joten ilman itse kanssa kautta ketä koska kuin kuinka kuka kun ksi lisäksi me
    mikä mikäli millainen milloin minkä minä missä mistä mitkä mitä monta mukaan mutta myös ne niiden niin
    niitä nyt näiden nämä oli olivat olla olisi on ollut ovat paljon sekä se sen siihen siinä sillä sitä tai
    te tämä tämän tässä tätä vaan vai vain vaikka vuoksi voi yli ylitse`,
  hu: `
    a abban ahhoz ahogy aki akik akkor alatt amely amelyek ami amit az azok azon azt azzal be benne csak de
    e ebben egy egyes egyik ehhez el ellen elő én ennek erre és ez ezek ezen ezt ezzel fel ha hány hanem
    hogy hogyan hol igen így ill is jó ki kell kellett között különböző le legyen lehet lesz majd már meg
    mely melyik mert mi miért míg mikor milyen minden mint mit módon most nagyon nem néhány nincs olyan ő ők
    össze s saját sem semmi sok szerint több új után vagy vala van vannak végül volt voltak`,
  ro: `
    a acea aceasta această acest acesta aceste acestea acești acolo ai al ale am ar are asta au avea ca când
    care căruia câte câți către ce cel cele cei cine cu cum da dacă dar de deci deși despre din dintre după
    ea ei el ele era erau este eu fi fie fiind fost fără iar în înainte într între îl îi la le lor lui mai
    mult multe mulți ne nici niște noi nu o ori pe pentru prin sa sale sau să său se si și sub sunt tot
    toate toți un unde unei unele unor unui va vor`,
  tr: `
    acaba ama ancak arasında aslında ayrıca az bana bazı belki ben beni bile bir birçok biri birkaç biz bu
    buna bunda bundan bunlar bunu bunun böyle çok çünkü da daha de defa değil diye dolayı en fakat gibi göre
    hangi hangisi hatta hem henüz hep her hiç için ile ilgili ise işte itibaren kaç kadar karşı kendi kez ki
    kim kimin mı mi mu mü nasıl ne neden nerede nereye niçin niye o olan olarak oldu olduğu olup on ona
    onlar onu onun oysa pek rağmen sadece sen siz sonra şey şu tarafından tüm üzere var ve veya ya yani
    yapılan yer yerine yok zaten`,
  ca: `
    a al als amb aquell aquella aquest aquesta això així com d de del dels des després durant el ella elles
    ells els en entre era eren és està estan esta ha han hi i jo l la les li ho mentre més molt molts no
    només o on per però perquè pel pels què qual quan quants quant que qui s sense ser seu seus seva si
    sobre són sota també te té tot tots un una unes uns va van`,
  cs: `
    a aby ale ani asi až bez bude budou by byl byla byli bylo být co což další do i jak jaké jaký je jeho
    jejich jen ještě již jsem jsou k kde kdo kdy kdyby když ke která které kterého který kteří ku má mají
    mezi mi mít mu na nad nebo než nejsou není o od on ona oni pak po pod podle pokud pro proč proto před
    při s se si sice své svůj ta tak také takže tam tato ten tento této to tohoto tom toto tu ty u už v ve
    více však z za ze že`,
  sl: `
    a ali bi bil bila bili bilo biti bo bodo brez če da do ga ga in iz ima imajo jaz je jih jim jo kaj kako
    kar kateri katera katero kdaj kdo ker ki kje ko koliko kot le med medtem mi na nad naj ne ni nič njegov
    njegova njen o ob od on ona oni pa po pod pred pri proti s sem si smo so ste sta svoj ta tako tem ter ti
    to tudi v več vendar vse z za zakaj že`,
  eu: `
    ahal al arte asko ba baina baino bat batean batek baten bere berak berri bi da dago daude dela den
    dezake dira direla ditu du duen dute edo egin egiten ere eta ez gabe hau hauek hori horrek horren horri
    hura izan izango izaten nola non nor noiz oso zein zen zer zergatik zituen ziren zuen zuten zituzten`,
  ga: `
    a ach ag agus an ann ar as ba bhí beidh cad cé cén chuig conas dá de den do don é faoi go gur í is iad
    idir le leis má mar mé mo na nach ná ní níl nó ó ón os roimh sa san sé seo sí sin siad sna tá trí tú um`,
  pl: `
    a aby albo ale ani bardzo bez bo by być był była było były będzie będą co czy dla do gdy gdzie go i ich
    ile im in innych jak jaka jaki jakie jako jednak jego jej jest jeszcze już kiedy kto która które którego
    której który których którzy ma mają można może na nad nie niż o od on ona oni oraz po pod podczas
    pomiędzy poza przed przez przy się są swój ta tak także tam te tego tej ten to tu tych tylko tym u w we
    więc wiele wszystko z za ze że został została`,
  vi: `
    ai bao bằng bị bởi cả các cái cần chỉ cho chưa có của cùng cũng đã đang đâu để đến đều đó được gì hay họ
    hơn khi không là lại làm mà mỗi một nào này nên nếu ngoài người nhiều như nhưng những nơi ở phải qua ra
    rằng rất sao sau sẽ so sự tại tất thế theo thì trên trong trước từ và vào vẫn vậy về vì việc với`,
  id: `
    ada adalah agar akan anda antara apa apakah atas atau bagaimana bagi bahwa banyak beberapa belum berapa
    bisa dalam dan dapat dari dengan di dia hanya harus ia ini itu jika juga kami kapan karena ke kepada
    kita lain lebih maka mana mengapa menjadi mereka oleh pada para saat saja salah sama sampai sangat saya
    sebagai sebuah secara sedang sejak seperti serta setelah siapa suatu sudah telah tentang terhadap
    tersebut tetapi tidak untuk yang`,
  ru: `
    а без бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если
    есть еще же за здесь и из или им их к как какая какие какое какой каким когда кого кому которая которого
    которое которой которые который которых кто ли либо между меня мне может мы на над не него нее нет ни
    них но ну о об однако он она они оно от перед по под после почему при с со свои себя сколько так также
    такой там те тем то тоже того той только том ты у уже хотя чего чей чем что чтобы чье чья эта эти это
    этого этой этот этом я`,
  uk: `
    а або але без би був була були було бути в вам вас вже ви від він вона вони воно все всі де для до з за
    зі і із її їх його й коли кого ким котрий ми між мене на над не немає ні них о об один перед під по при
    про та так також такий те ти то тому тільки у хто це цей ця ці через чи чому що щоб як яка яке який
    якого якій які я є`,
  bg: `
    а без беше би бил била били било в във вече ви всички все да дали до докато друг е ето за защо и из или
    им има как какво какви който която което които кога кой колко към ли между му може на най над не него
    нея ни но някои от по под преди през при с са само се си след според срещу със съм та така там те тези
    това този той тук тя че чрез ще я`,
  sr: `
    а али без би био била били било бити већ да до док за зашто и из или им има имају је јер јесте како који
    која које колико којој кроз ли међу на над не него није од око он она они по под после пре при са се сам
    су та тако те ти то тога у уз шта што`,
};

/** Letters that similar languages mostly lack; a word with one counts like a function word. */
export const TELLING_LETTERS: readonly (readonly [language: string, letters: RegExp])[] = [
  ["de", /ß/u],
  ["es", /[ñ¿]/u],
  ["pt", /[ãõ]/u],
  ["hu", /[őű]/u],
  ["ro", /[șțţ]|ă(?![\u0300-\u036f])/u],
  ["tr", /[ğı]/u],
  ["cs", /[řů]/u],
  ["pl", /[łąęńśźż]/u],
  ["vi", /[ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]/u],
  ["uk", /[іїєґ]/u],
  ["sr", /[јљњћђџ]/u],
];
