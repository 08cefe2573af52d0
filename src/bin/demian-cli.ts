#!/usr/bin/env node
// Starts demian under its other name.
import { runMain } from "../cli/command.ts";
import { ProcessIo } from "../cli/demian/io.ts";
import { main } from "../cli/demian/main.ts";
import { VERSION } from "../version.ts";

const io = new ProcessIo();
const options = { program: "demian-cli", version: VERSION, io };
await runMain(
  "demian-cli",
  () => main(process.argv.slice(2), options),
  () => io.readerGone(),
);
