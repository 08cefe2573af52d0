// The words that an exported function may start with. Add a verb here when you need one; never a noun.

/** Actions. */
const VERBS = `
  abandon abort add adjust adopt advance announce answer append apply arrange ask assert assume attach await backspace become begin
  bind build call cancel cap carry change chart check choose claim classify clear close collect color combine commit compact
  compare compile complete compose compute confirm connect continue convert copy count create cut decide declare
  decode define delete deliver derive describe detect dial diff discard dispatch drain draw drop edit end enqueue ensure
  estimate evaluate exchange execute expand expire explain extend extract fail feed fetch fill filter find finish fit
  flush fold follow forget format free get give group guard guess halt hand hash highlight hold hurry identify ignore
  import index insert inspect interrupt introduce join judge keep kill learn leave let limit list listen load locate lock
  log look lose make map mark mask match measure merge migrate modernize move mute name narrow nest normalize note notify number
  observe obtain omit open optimize orphan pad paint park parse paste peek perform pick plan poll post prepare preview
  print project prune publish push put queue quote rate read reattach recall receive reconnect record recover redact
  reduce refuse reject release reload remember remove rename render repeat replace replay reply report require
  reserve reset resolve respond rest restart restore restrict resume retry reveal rewind route run sanitize save scan
  scroll search seed select send serve set settle shake share shorten show sign skip slice sort spawn split spread
  stamp start step stop store stream strip submit subtract suggest sum summarize sync take tell throttle tidy
  toggle translate trim truncate try undo unlink unqueue unwrap update upgrade use visit wait wake walk warm warn watch
  withdraw wrap write yank
`;

/** Claims, for functions that return a boolean. */
const CLAIMS = `
  allows can did does exists fits has is lacks looks matches may might must needs owns passes runs should speaks
  supports takes uses wakes was
`;

/** `toView`, `asText`, `withModel`, `onExit`. */
const IDIOMS = "to as with without on";

/** Names that a reader expects as they are: entry points, a constructor of objects, and names of the public library. */
const EXCEPTIONS = new Set(["main", "defined", "helloFrame", "changedEntries", "emptyView"]);

const WORDS = new Set([VERBS, CLAIMS, IDIOMS].join(" ").trim().split(/\s+/));

/** Errors are named by what they say (`throw busyError()`), maps by both ends (`optionsToArgv`). */
export function isVerbName(name: string): boolean {
  const [first = ""] = /^[a-z]+|^[A-Z]+/.exec(name) ?? [];
  return (
    EXCEPTIONS.has(name) || WORDS.has(first) || /(Error|Failure)$/.test(name) || /[a-z]To[A-Z]/.test(name)
  );
}
