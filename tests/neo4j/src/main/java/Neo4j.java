import java.nio.file.Files;
import java.time.Duration;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.harness.Neo4jBuilders;
import org.neo4j.server.configuration.ServerSettings;

/** An empty Neo4j on a free port of loopback, without passwords; its address is the one line it prints. It ends with its input. */
class Neo4j {
    public static void main(String[] arguments) throws Exception {
        var folder = Files.createTempDirectory("plumbline-neo4j");
        // A test kills clients: what they had begun must be undone before their successors are there.
        var forgotten = Duration.ofSeconds(2);
        try (var neo4j = Neo4jBuilders.newInProcessBuilder(folder)
                .withConfig(ServerSettings.http_transaction_timeout, forgotten)
                .withConfig(ServerSettings.queryapi_transaction_timeout, forgotten)
                .build()) {
            System.out.println(neo4j.httpURI());
            while (System.in.read() >= 0) {
            }
        }
    }
}
