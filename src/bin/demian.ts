#!/usr/bin/env node
// Starts demian.
import { runMain } from "../cli/command.ts";
import { ProcessIo } from "../cli/demian/io.ts";
import { main } from "../cli/demian/main.ts";
import { VERSION } from "../version.ts";

const io = new ProcessIo();
const options = { program: "demian", version: VERSION, io };
await runMain(
  "demian",
  () => main(process.argv.slice(2), options),
  () => io.readerGone(),
);
