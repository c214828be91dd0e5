import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.netarchivesuite.heritrix3wrapper.EngineResult;
import org.netarchivesuite.heritrix3wrapper.Heritrix3Wrapper;
import org.netarchivesuite.heritrix3wrapper.Heritrix3Wrapper.CrawlControllerState;
import org.netarchivesuite.heritrix3wrapper.JobResult;
import org.netarchivesuite.heritrix3wrapper.ResultStatus;
import org.netarchivesuite.heritrix3wrapper.ScriptResult;
import org.netarchivesuite.heritrix3wrapper.StreamResult;

/** The life of a job, by NetarchiveSuite's wrapper: strict types, gzip-coded scripts, ranges. */
public class Life {
    static void check(boolean right, String what) {
        if (!right) {
            throw new IllegalStateException(what);
        }
        System.out.println("ok " + what);
    }

    static JobResult ok(JobResult result, String what) {
        check(result.status == ResultStatus.OK || result.status == ResultStatus.RESPONSE_EXCEPTION && result.t == null,
            what + " (" + result.status + ", " + result.responseCode + ", " + result.t + ")");
        return result;
    }

    public static void main(String[] args) throws Exception {
        String host = args[0];
        int port = Integer.parseInt(args[1]);
        Path jobs = Path.of(args[2]);
        String jobFile = Files.readString(Path.of(args[3]));
        Heritrix3Wrapper engine = Heritrix3Wrapper.getInstance(host, port, null, null, "admin", "admin");
        EngineResult there = engine.waitForEngineReady(10, 500);
        check(there.status == ResultStatus.OK && there.engine != null, "engine");
        check(there.engine.jobsDir.equals(jobs.toString()), "jobs folder");
        EngineResult made = engine.createNewJob("java");
        check(made.status == ResultStatus.OK && made.engine.jobs.stream().anyMatch(each -> each.shortName.equals("java")), "create");
        Files.writeString(jobs.resolve("java").resolve("crawler-beans.cxml"), jobFile);
        JobResult job = ok(engine.buildJobConfiguration("java"), "build");
        check(job.job.statusDescription.equals("Ready"), "ready");
        check(Double.isNaN(job.job.rateReport.averageDocsPerSecond), "a rate that is none");
        check(job.findConfigFile("warcWriter.directory") != null || job.job.configFiles.size() > 10, "config files");
        ok(engine.launchJob("java"), "launch");
        job = ok(engine.waitForJobState("java", CrawlControllerState.PAUSED, 60, 500), "paused at start");
        check(job.job.crawlControllerState.equals("PAUSED") && job.job.isRunning && job.job.launchCount == 1, "launched");
        check(job.job.uriTotalsReport.queuedUriCount == 2, "seeds");
        ok(engine.unpauseJob("java"), "unpause");
        job = ok(engine.waitForJobState("java", CrawlControllerState.RUNNING, 60, 200), "running");
        check(job.job.threadReport.toeCount == 1 && job.job.frontierReport.totalQueues >= 2, "threads and queues");
        ok(engine.pauseJob("java"), "pause");
        ok(engine.waitForJobState("java", CrawlControllerState.PAUSED, 60, 500), "paused");
        ok(engine.checkpointJob("java"), "checkpoint");
        ScriptResult script = engine.ExecuteShellScriptInJob("java", "groovy", "rawOut.println(frontier.deleteURIs(\".*\", \".*/p/2.*\"))");
        check(script.status == ResultStatus.OK && !script.script.failure, "script, gzip-coded");
        check(Integer.parseInt(script.script.rawOutput.trim()) >= 0, "how many were deleted: " + script.script.rawOutput.trim());
        script = engine.ExecuteShellScriptInJob("java", "groovy", "6*7/0");
        check(script.script != null && script.script.failure, "a script that is not run");
        ok(engine.unpauseJob("java"), "unpause again");
        ok(engine.terminateJob("java"), "terminate");
        job = ok(engine.waitForJobState("java", CrawlControllerState.FINISHED, 120, 500), "finished");
        check("ABORTED".equals(job.job.crawlExitStatus) && job.job.sizeTotalsReport.total > 0, "its end");
        check(job.job.lastLaunch != null && job.job.lastLaunch > 1000000000000L, "time of the launch");
        String log = jobs.resolve("java").resolve("job.log").toString();
        StreamResult part = engine.anypath(log, 0L, 9L);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        part.in.transferTo(bytes);
        check(part.responseCode == 206 && bytes.size() == 10, "a range of a log: " + bytes.toString(StandardCharsets.UTF_8));
        part.close();
        ok(engine.teardownJob("java"), "teardown");
        job = ok(engine.copyJob("java", "java2", false), "copy");
        check(Files.exists(jobs.resolve("java2").resolve("crawler-beans.cxml")), "the copy");
        engine.exitJavaProcess(List.of());
        System.out.println("life: whole");
    }
}
