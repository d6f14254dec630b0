// Microsoft's DebugClient, the one that adapters of VS Code are tested with, drives a
// listening dbg: node client.js PORT SCENARIO ARGUMENTS-AS-JSON
const { DebugClient } = require('@vscode/debugadapter-testsupport');
const assert = require('assert');

const [port, scenario, text] = process.argv.slice(2);
const args = JSON.parse(text);
const client = new DebugClient('none', 'none', 'dbg');
client.defaultTimeout = 30000;

const scenarios = {
  async breakpoint() {
    await client.hitBreakpoint({ program: args.program, args: ['loop'] }, { path: args.source, line: args.body });
    const { body: { threads } } = await client.threadsRequest();
    const threadId = threads[0].id;
    const { body: { stackFrames } } = await client.stackTraceRequest({ threadId });
    assert.equal(stackFrames[0].name, 'loop');
    const { body: { scopes } } = await client.scopesRequest({ frameId: stackFrames[0].id });
    assert.deepEqual(scopes.map(s => s.name), ['Locals', 'Registers']);
    const { body: { variables } } = await client.variablesRequest({ variablesReference: scopes[0].variablesReference });
    assert.equal(variables.find(v => v.name === 'total').value, '0');
    assert.equal((await client.evaluateRequest({ expression: 'i + 40', frameId: stackFrames[0].id })).body.result, '40');
    await Promise.all([client.stepInRequest({ threadId }), client.assertStoppedLocation('step', { path: args.source, line: args.add })]);
    await Promise.all([client.stepOutRequest({ threadId }), client.waitForEvent('stopped')]);
    await client.setBreakpointsRequest({ source: { path: args.source }, breakpoints: [] });
    await Promise.all([client.continueRequest({ threadId }), client.assertOutput('stdout', 'total 55'), client.waitForEvent('exited'), client.waitForEvent('terminated')]);
  },
  async entry() {
    await Promise.all([
      client.configurationSequence(),
      client.launch({ program: args.program, args: ['exit', '3'], stopOnEntry: true }),
      client.assertStoppedLocation('entry', { path: args.source, line: args.main }),
    ]);
    const threadId = (await client.threadsRequest()).body.threads[0].id;
    const [, exited] = await Promise.all([client.continueRequest({ threadId }), client.waitForEvent('exited'), client.waitForEvent('terminated')]);
    assert.equal(exited.body.exitCode, 3);
  },
  async pause() {
    await Promise.all([client.configurationSequence(), client.launch({ program: args.program, args: ['wait'] }), client.assertOutput('stdout', 'waiting')]);
    const threadId = (await client.threadsRequest()).body.threads[0].id;
    const [, stopped] = await Promise.all([client.pauseRequest({ threadId }), client.waitForEvent('stopped')]);
    assert.equal(stopped.body.reason, 'pause');
    assert.equal(stopped.body.threadId, threadId);
    await assert.rejects(client.send('noSuchRequest'));
  },
  async crash() {
    const [, , stopped] = await Promise.all([client.configurationSequence(), client.launch({ program: args.program, args: ['crash'] }), client.waitForEvent('stopped')]);
    assert.equal(stopped.body.reason, 'exception');
    assert.match(stopped.body.text, /SIGSEGV/);
  },
  async badLaunch() {
    await assert.rejects(client.launch({ program: '/no/such/program' }), /no such program|[Nn]o such file/);
  },
};

(async () => {
  await client.start(Number(port));
  await scenarios[scenario]();
  await client.disconnectRequest();
  process.exit(0);
})().catch(err => {
  console.error(err);
  process.exit(1);
});
